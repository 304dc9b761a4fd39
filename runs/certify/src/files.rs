//! The files that a certificate binds: what its plan and its attackers imply, and nothing else.

use super::attacker_record::{AttackerRecord, Knowledge};
use super::paths::{COMMITMENT, CertifyPaths, MASK_KEY, SET_RECORD};
use super::set_record::SetRecord;
use crate::CertifyError;
use ktd_io::sha256::sha256_file;
use ktd_probes::judge::ControlSet;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Name of every other file of a certificate of these attackers.
#[must_use]
pub(super) fn names(record: &SetRecord, attackers: &[AttackerRecord]) -> BTreeSet<String> {
    let knowing = |knows: Knowledge| -> Vec<&str> {
        let own = attackers.iter().filter(|attacker| attacker.knows == knows);
        own.map(|attacker| attacker.name.as_str()).collect()
    };
    let (database, language) = (knowing(Knowledge::Database), knowing(Knowledge::Language));
    let paths = CertifyPaths::new(Path::new(""));
    let bright = ControlSet::BrightDay;
    let mut names = BTreeSet::from([SET_RECORD, MASK_KEY, COMMITMENT].map(str::to_owned));
    let mut sets = vec![(paths.probed(), record.by_kind().into_keys().collect())];
    for control in ControlSet::of(record.plan.numeric, record.has_asked()) {
        sets.push((paths.control(control.label()), vec![control.kind()]));
    }
    for (set, _) in &sets {
        names.extend(database.iter().map(|attacker| set.answers(attacker)));
    }
    if !language.is_empty() {
        let bright = (paths.control(bright.label()), vec![bright.kind()]);
        for set in [&paths.probed(), &bright.0] {
            names.extend(language.iter().flat_map(|attacker| set.asked_record(attacker)));
        }
        sets.push(bright);
    }
    for (set, kinds) in sets {
        names.insert(set.gold().to_owned());
        names.extend(kinds.into_iter().map(|kind| set.probes(kind)));
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
