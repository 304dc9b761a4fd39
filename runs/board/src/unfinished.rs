//! Plans of the studies in whose folders episodes lie: which of their units have not ended, for a ranking without them is none of the whole
//! experiment, and which episodes no unit names.

use super::notes::listed;
use ktd_bundle::bundle_set::BundleSet;
use ktd_study::StudyOutline;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The units of the plan of each folder of results that named episodes lie in, where there is a plan.
pub(super) struct Plans<'f>(BTreeMap<&'f Path, BTreeSet<String>>);

impl<'f> Plans<'f> {
    /// Those of what is named, each read once.
    pub(super) fn of(findings: &'f BundleSet) -> Self {
        let named = findings.named.iter();
        let folders: BTreeSet<&Path> = named.filter_map(|bundle| results_of(&bundle.root)).collect();
        let plan = |folder: &'f Path| {
            let units = StudyOutline::read(folder).ok()?.units.into_iter();
            Some((folder, units.map(|unit| unit.id.as_str().to_owned()).collect()))
        };
        Self(folders.into_iter().filter_map(plan).collect())
    }

    /// How many episodes have not ended: those that were begun, and those of the plans that were not.
    pub(super) fn unfinished(&self, findings: &BundleSet) -> usize {
        let planned = self.0.iter().map(|(folder, ids)| {
            let ended = ids.iter().filter(|id| has_ended(folder, id));
            ids.len() - ended.count()
        });
        findings.unfinished.len().max(planned.sum())
    }

    /// The note of named episodes that their plan does not name: a file that asked for more may have left them there, and a stranger may
    /// have put them there.
    pub(super) fn unnamed(&self, findings: &BundleSet) -> Option<String> {
        let is_foreign = |root: &&Path| {
            let plan = results_of(root).and_then(|folder| self.0.get(folder));
            let id = root.file_name().map(|name| name.to_string_lossy());
            plan.zip(id).is_some_and(|(plan, id)| !plan.contains(&*id))
        };
        let roots = findings.named.iter().map(|bundle| bundle.root.as_path());
        let foreign = roots.filter(is_foreign).map(|root| root.display().to_string());
        let foreign: Vec<String> = foreign.collect();
        (!foreign.is_empty()).then(|| {
            format!(
                "ranked though no unit of the study in whose folder they lie names them, so that no check of the study is theirs: {}",
                listed(&foreign)
            )
        })
    }
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
