//! Probes that somebody else made or changed, with their answer key.

use super::gold_line;
use super::paths::SetPaths;
use super::probe_inputs::ProbeSet;
use super::probe_line::each_probe;
use super::sets::read_gold;
use crate::CertifyError;
use ktd_env::Market;
use ktd_probes::{Gold, ProbeKind, ProbeText};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads `probes/KIND.jsonl` and `private/gold.jsonl` below a directory, packed or not, for a panel.
///
/// # Errors
/// [`CertifyError`] naming what is missing, the line that is torn, or the stock or day that the panel has not.
pub(super) fn read(root: &Path, market: &Market) -> Result<ProbeSet, CertifyError> {
    let paths = SetPaths::given(root);
    let mut set = ProbeSet::default();
    let mut counts: BTreeMap<ProbeKind, usize> = BTreeMap::new();
    for kind in ProbeKind::ALL {
        let Some(path) = either(&paths.at(&paths.probes(kind))) else {
            continue;
        };
        let probes: Vec<ProbeText> = each_probe(&path, kind)?.collect::<Result<_, _>>()?;
        if !probes.is_empty() {
            counts.insert(kind, probes.len());
        }
        set.probes.extend(probes);
    }
    if set.probes.is_empty() {
        return Err(CertifyError::input(
            format!("{} holds no probes", root.display()),
            "a probe set has probes/KIND.jsonl.zst, KIND being day, days, episode, linked or anchored",
        ));
    }
    let path = paths.at(paths.gold());
    let path = either(&path).ok_or_else(|| {
        CertifyError::input(
            format!("{}: the answer key is missing", path.display()),
            "without it nothing can be counted: ask whoever made the probes",
        )
    })?;
    let gold = read_gold(&path)?;
    gold_line::check_order(&path, &gold, &counts)?;
    let gold = gold.iter().enumerate();
    set.gold = gold
        .map(|(place, line)| line.gold(&path, place + 1, market))
        .collect::<Result<Vec<Gold>, _>>()?;
    Ok(set)
}

/// The file itself, or the same packed or unpacked.
fn either(path: &Path) -> Option<PathBuf> {
    let packed = path.extension().is_some_and(|extension| extension == "zst");
    let other = if packed {
        path.with_extension("")
    } else {
        path.with_extension("jsonl.zst")
    };
    [path.to_owned(), other].into_iter().find(|path| path.is_file())
}
