//! Episodes of an experiment that have not ended: a ranking without them is none of the whole experiment.

use ktd_bundle::bundle_set::BundleSet;
use ktd_study::StudyOutline;
use std::collections::BTreeSet;
use std::path::Path;

/// How many episodes have not ended, of the experiments of what is named: those that were begun, and those of their plans that were
/// not.
pub(super) fn unfinished(findings: &BundleSet) -> usize {
    let folders: BTreeSet<&Path> = findings
        .named
        .iter()
        .filter_map(|bundle| results_of(&bundle.root))
        .collect();
    let planned = folders.into_iter().filter_map(|folder| {
        let outline = StudyOutline::read(folder).ok()?;
        let units = outline.units.iter();
        Some(units.filter(|unit| !has_ended(folder, unit.id.as_str())).count())
    });
    findings.unfinished.len().max(planned.sum())
}

/// The folder of results that an episode lies in; none of one that lies elsewhere.
fn results_of(bundle: &Path) -> Option<&Path> {
    let cells = bundle.parent()?;
    let folder = cells.parent().filter(|_| cells.ends_with("cells"))?;
    if folder.ends_with("private") {
        folder.parent()
    } else {
        Some(folder)
    }
}

fn has_ended(folder: &Path, id: &str) -> bool {
    ["cells", "private/cells"]
        .iter()
        .any(|cells| folder.join(cells).join(id).join("summary.json").is_file())
}
