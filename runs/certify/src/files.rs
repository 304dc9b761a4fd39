//! The files that a certificate binds: what its plan and its attackers imply, and nothing else.

use super::attacker_record::{AttackerRecord, Knowledge};
use super::paths::{COMMITMENT, CertifyPaths, MASK_KEY, PROBES, SET_RECORD};
use super::set_record::SetRecord;
use crate::CertifyError;
use ktd_io::sha256::sha256_file;
use ktd_probes::judge::ControlSet;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Below the folder of a language model and a set of probes: who was asked, every request with its reply, and what each
/// probe came to.
const RECORDS: [&str; 3] = ["attacker.json", "exchanges.jsonl.zst", "answers.jsonl"];

/// Name of every other file of a certificate of these attackers.
#[must_use]
pub(super) fn names(record: &SetRecord, attackers: &[AttackerRecord]) -> BTreeSet<String> {
    let knowing = |knows: &[Knowledge]| -> Vec<&str> {
        let own = attackers
            .iter()
            .filter(|attacker| knows.contains(&attacker.knows));
        own.map(|attacker| attacker.name.as_str()).collect()
    };
    let (database, language) = (knowing(&[Knowledge::Database]), knowing(&[Knowledge::Language]));
    let everyone = knowing(&[Knowledge::Database, Knowledge::Language]);
    let paths = CertifyPaths::new(Path::new(""));
    let bright = ControlSet::BrightDay;
    let mut names = BTreeSet::from([SET_RECORD, MASK_KEY, COMMITMENT].map(str::to_owned));
    for attacker in &language {
        for set in [PROBES, bright.label()] {
            names.extend(RECORDS.map(|record| format!("attackers/{set}/{attacker}/{record}")));
        }
    }
    let mut sets = vec![(paths.probed(), record.by_kind().into_keys().collect(), everyone)];
    for control in ControlSet::of(record.plan.numeric, record.has_asked()) {
        let set = paths.control(control.label());
        sets.push((set, vec![control.kind()], database.clone()));
    }
    if !language.is_empty() {
        sets.push((paths.control(bright.label()), vec![bright.kind()], language));
    }
    for (set, kinds, who) in sets {
        names.insert(set.gold().to_owned());
        names.extend(kinds.into_iter().map(|kind| set.probes(kind)));
        names.extend(who.into_iter().map(|attacker| set.answers(attacker)));
    }
    names
}

/// SHA-256 of every other file of a certificate, by its name.
///
/// # Errors
/// [`CertifyError::File`] for one that is missing.
pub(super) fn hashes(
    paths: &CertifyPaths,
    record: &SetRecord,
    attackers: &[AttackerRecord],
) -> Result<BTreeMap<String, String>, CertifyError> {
    let hash = |name: String| {
        let hash = sha256_file(&paths.root().join(&name))?;
        Ok((name, hash))
    };
    names(record, attackers).into_iter().map(hash).collect()
}
