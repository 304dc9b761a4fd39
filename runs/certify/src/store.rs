//! Probe sets on disk.

use super::answer_line::{self, AnswerLine};
use super::attack_run::Answers;
use super::gold_line::{self, GoldLine};
use super::jsonl;
use super::paths::SetPaths;
use super::probe_inputs::{ProbeInputs, ProbeSet};
use super::probe_line::{self, ProbeLine, WrittenProbe};
use super::set_record::StoredSet;
use crate::CertifyError;
use ktd_io::whole_file::create_private;
use ktd_masking::MaskSettings;
use ktd_probes::judge::ChanceParts;
use ktd_probes::{Database, ProbeKind, ProbeText};
use ktd_record::RecordError;
use std::collections::BTreeMap;
use std::path::Path;

/// The answer keys of probes under a mask as lines, with what chance recovers of each.
#[must_use]
pub(super) fn gold_lines(
    inputs: &ProbeInputs,
    database: &Database,
    (mask, joint_days): (MaskSettings, usize),
    set: &ProbeSet,
) -> Vec<GoldLine> {
    let line = |(probe, gold): (&ProbeText, &ktd_probes::Gold)| {
        let chance = ChanceParts::of(database, mask, (probe, gold), joint_days);
        GoldLine::of(&inputs.source.market, (probe.kind, probe.number), gold, &chance)
    };
    set.probes.iter().zip(&set.gold).map(line).collect()
}

/// Writes a set: probes by kind, and their answer keys apart.
///
/// # Errors
/// [`CertifyError::File`].
pub(super) fn store(
    paths: &SetPaths,
    probes: &[ProbeText],
    gold: &[GoldLine],
) -> Result<StoredSet, CertifyError> {
    let mut stored = StoredSet::default();
    for kind in ProbeKind::ALL {
        let of_kind: Vec<&ProbeText> = probes.iter().filter(|probe| probe.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let name = paths.probes(kind);
        let written = of_kind
            .iter()
            .map(|probe| WrittenProbe::of(probe))
            .collect::<Result<Vec<_>, _>>()
            .and_then(|probes| jsonl::write(&paths.at(&name), probes))?;
        stored.counts.insert(kind, of_kind.len());
        stored.files.insert(name, written);
    }
    let path = paths.at(paths.gold());
    create_private(path.parent().unwrap_or(&path))?;
    stored.gold_sha256 = jsonl::write(&path, gold)?;
    Ok(stored)
}

/// Reads the probes of a set, in order.
///
/// # Errors
/// [`CertifyError`] naming file and line.
pub(super) fn load_probes(
    paths: &SetPaths,
    counts: &BTreeMap<ProbeKind, usize>,
) -> Result<Vec<ProbeText>, CertifyError> {
    let mut probes = Vec::new();
    for (kind, count) in counts {
        let path = paths.at(&paths.probes(*kind));
        let lines = jsonl::read::<ProbeLine>(&path)?;
        if lines.len() != *count {
            let what = format!("it holds {} probes, not {count}", lines.len());
            return Err(CertifyError::damaged(&path, what));
        }
        probes.extend(probe_line::probes(&path, *kind, lines)?);
    }
    Ok(probes)
}

/// Reads the answer keys of a set, in order.
///
/// # Errors
/// [`CertifyError`] naming file and line.
pub(super) fn load_gold(
    paths: &SetPaths,
    counts: &BTreeMap<ProbeKind, usize>,
) -> Result<Vec<GoldLine>, CertifyError> {
    let path = paths.at(paths.gold());
    let gold = jsonl::read::<GoldLine>(&path)?;
    gold_line::check_order(&path, &gold, counts)?;
    Ok(gold)
}

/// Writes the answers of attackers; SHA-256 of each file.
///
/// # Errors
/// [`CertifyError::File`].
pub(super) fn store_answers(
    paths: &SetPaths,
    answers: &Answers,
) -> Result<BTreeMap<String, String>, CertifyError> {
    let mut hashes = BTreeMap::new();
    for (attacker, lines) in answers {
        let name = paths.answers(attacker);
        let written = jsonl::write(&paths.at(&name), lines)?;
        hashes.insert(name, written);
    }
    Ok(hashes)
}

/// Writes the answers of a language model.
///
/// # Errors
/// [`CertifyError::File`].
pub(super) fn store_language(
    paths: &SetPaths,
    attacker: &str,
    answers: &[AnswerLine],
) -> Result<(), CertifyError> {
    jsonl::write(&paths.at(&paths.answers(attacker)), answers).map(|_| ())
}

/// Reads an attacker's answers to the probes of these keys.
///
/// # Errors
/// [`CertifyError`] naming file and line.
pub(super) fn load_answers(
    paths: &SetPaths,
    attacker: &str,
    gold: &[GoldLine],
) -> Result<Vec<AnswerLine>, CertifyError> {
    let path = paths.at(&paths.answers(attacker));
    let answers = jsonl::read::<AnswerLine>(&path)?;
    answer_line::check_order(&path, &answers, gold)?;
    Ok(answers)
}

/// Compares what was made again with a file, line by line where the bytes differ.
///
/// # Errors
/// [`CertifyError::Diverged`] naming the first line that differs.
pub(super) fn compare<T: serde::Serialize>(path: &Path, values: &[T]) -> Result<(), CertifyError> {
    let recorded = jsonl::read::<Box<serde_json::value::RawValue>>(path)?;
    let differs = |line: usize, difference: String| {
        CertifyError::Bundle(RecordError::Diverged {
            path: path.to_owned(),
            line: u64::try_from(line).unwrap_or(u64::MAX),
            difference,
        })
    };
    for (place, value) in values.iter().enumerate() {
        let made =
            serde_json::to_string(value).map_err(|error| CertifyError::damaged(path, error.to_string()))?;
        let Some(recorded) = recorded.get(place) else {
            return Err(differs(place + 1, "it is missing".to_owned()));
        };
        if recorded.get() != made {
            return Err(differs(place + 1, first_difference(recorded.get(), &made)));
        }
    }
    if values.len() < recorded.len() {
        return Err(differs(values.len() + 1, "nothing makes it".to_owned()));
    }
    Ok(())
}

/// Where two texts part, with a little of each.
fn first_difference(recorded: &str, made: &str) -> String {
    const SHOWN: usize = 40;
    let place = recorded
        .bytes()
        .zip(made.bytes())
        .position(|(left, right)| left != right)
        .unwrap_or_else(|| recorded.len().min(made.len()));
    let part = |text: &str| -> String {
        let bytes = text.as_bytes().get(place..).unwrap_or_default();
        String::from_utf8_lossy(bytes).chars().take(SHOWN).collect()
    };
    format!(
        "byte {}: {:?} is recorded, {:?} is made",
        place + 1,
        part(recorded),
        part(made)
    )
}
