//! A probe as a line of its file.

use crate::CertifyError;
use ktd_io::line_file::LineKind;
use ktd_probes::{ProbeKind, ProbeText};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::Path;

/// A line of `probes/KIND.jsonl.zst`: what an attacker may see and nothing else.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeLine {
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

impl ProbeLine {
    fn probe(self, kind: ProbeKind, place: usize) -> Result<ProbeText, String> {
        let exhibits = if kind == ProbeKind::Linked { 2 } else { 1 };
        if self.number != place {
            return Err(format!("it is probe {}, not probe {place}", self.number));
        }
        if self.exhibits.len() != exhibits {
            return Err(format!(
                "a {} probe has {exhibits} exhibits, not {}",
                kind.label(),
                self.exhibits.len()
            ));
        }
        let text = |raw: Box<RawValue>| Box::<str>::from(raw).into_string();
        Ok(ProbeText {
            number: place,
            kind,
            exhibits: self.exhibits.into_iter().map(text).collect(),
        })
    }
}

/// The probes of one kind, of which no more than one is held: they are numbered from 0, and show as many episodes as their kind
/// does. An error is the last item.
///
/// # Errors
/// [`CertifyError::File`] for a file that cannot be read.
pub(super) fn each_probe(
    path: &Path,
    kind: ProbeKind,
) -> Result<impl Iterator<Item = Result<ProbeText, CertifyError>> + use<>, CertifyError> {
    let mut lines = LineKind::Probes.open(path)?;
    let mut next = move || -> Result<Option<ProbeText>, CertifyError> {
        let Some(line) = lines.next_line()? else {
            lines.check_whole()?;
            return Ok(None);
        };
        let line: Result<ProbeLine, _> = serde_json::from_slice(line);
        let line = line.map_err(|error| lines.damaged(error))?;
        let probe = line.probe(kind, lines.number() - 1);
        Ok(Some(probe.map_err(|what| lines.damaged(what))?))
    };
    let mut is_over = false;
    Ok(std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let probe = next().transpose();
        is_over = !matches!(probe, Some(Ok(_)));
        probe
    }))
}
