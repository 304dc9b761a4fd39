//! A probe as a line of its file.

use crate::CertifyError;
use ktd_probes::{ProbeKind, ProbeText};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::Path;

/// A line of `probes/KIND.jsonl.zst`: what an attacker may see and nothing else.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProbeLine {
    /// The probe's place among those of its kind, from 0.
    number: usize,
    /// What each episode shows; the bytes are the probe's own.
    exhibits: Vec<Box<RawValue>>,
}

/// The same as it is written, without a copy of the probe.
#[derive(Debug, Serialize)]
pub(super) struct WrittenProbe<'p> {
    number: usize,
    exhibits: Vec<&'p RawValue>,
}

impl<'p> WrittenProbe<'p> {
    /// The line of a probe.
    ///
    /// # Errors
    /// [`CertifyError::Input`] for an exhibit that is no JSON.
    pub(super) fn of(probe: &'p ProbeText) -> Result<Self, CertifyError> {
        let raw = |text: &'p String| {
            serde_json::from_str(text).map_err(|error| {
                let what = format!("{} probe {}: {error}", probe.kind.label(), probe.number);
                CertifyError::input(what, "an exhibit is one JSON document")
            })
        };
        Ok(Self {
            number: probe.number,
            exhibits: probe.exhibits.iter().map(raw).collect::<Result<_, _>>()?,
        })
    }
}

/// The probes of one kind from their lines, which must be numbered from 0 and show as many episodes as their kind does.
///
/// # Errors
/// [`CertifyError::File`] naming the line.
pub(super) fn probes(
    path: &Path,
    kind: ProbeKind,
    lines: Vec<ProbeLine>,
) -> Result<Vec<ProbeText>, CertifyError> {
    let exhibits = if kind == ProbeKind::Linked { 2 } else { 1 };
    let probe = |(place, line): (usize, ProbeLine)| {
        let wrong = |what: String| CertifyError::damaged(path, format!("line {}: {what}", place + 1));
        if line.number != place {
            return Err(wrong(format!("it is probe {}, not probe {place}", line.number)));
        }
        if line.exhibits.len() != exhibits {
            return Err(wrong(format!(
                "a {} probe has {exhibits} exhibits, not {}",
                kind.label(),
                line.exhibits.len()
            )));
        }
        Ok(ProbeText {
            number: place,
            kind,
            exhibits: line
                .exhibits
                .into_iter()
                .map(|raw| Box::<str>::from(raw).into_string())
                .collect(),
        })
    };
    lines.into_iter().enumerate().map(probe).collect()
}
