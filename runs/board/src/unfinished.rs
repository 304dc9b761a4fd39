//! Episodes of an experiment that have not ended: a ranking without them is none of the whole experiment.

use super::notes::listed;
use ktd_bundle::bundle_set::BundleSet;
use ktd_study::StudyOutline;
use std::collections::{BTreeMap, BTreeSet};
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

/// The note of named episodes in the folder of a study whose plan does not name them: a file that asked for more may have left them there,
/// and a stranger may have put them there.
pub(super) fn unnamed(findings: &BundleSet) -> Option<String> {
    let mut of_folder: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for bundle in &findings.named {
        if let Some(folder) = results_of(&bundle.root) {
            of_folder.entry(folder).or_default().push(&bundle.root);
        }
    }
    let mut foreign = Vec::new();
    for (folder, roots) in of_folder {
        let Ok(outline) = StudyOutline::read(folder) else {
            continue;
        };
        let ids: BTreeSet<&str> = outline.units.iter().map(|unit| unit.id.as_str()).collect();
        let id = |root: &&Path| {
            root.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|id| !ids.contains(id))
        };
        foreign.extend(
            roots
                .into_iter()
                .filter(id)
                .map(|root| root.display().to_string()),
        );
    }
    (!foreign.is_empty()).then(|| {
        format!(
            "ranked though no unit of the study in whose folder they lie names them, so that no check of the study is theirs: {}",
            listed(&foreign)
        )
    })
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
