//! Finding bundles on disk: those named, and their siblings.

use crate::BundleError;
use crate::bundle_ref::BundleRef;
use crate::set_aside::is_set_aside;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How deep below a named directory bundles are looked for: results/EXPERIMENT/cells/CELL.
const DEPTH: usize = 4;

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct BundleSet {
    /// Finished episodes among the named, in the order of their paths.
    pub named: Vec<BundleRef>,
    /// Finished siblings of those that were not named: they count as trials.
    pub siblings: Vec<BundleRef>,
    /// Directories of episodes that have not ended.
    pub unfinished: Vec<PathBuf>,
    /// Why a sibling cannot count as a trial.
    pub damaged: Vec<String>,
}

impl BundleSet {
    /// What to tell of episodes that have not ended; `None` where all have.
    #[must_use]
    pub fn unfinished_note(&self) -> Option<String> {
        let count = self.unfinished.len();
        (0 < count)
            .then(|| format!("{count} episodes have not ended and are left out; `ktd run` continues them"))
    }

    /// How many of the named episodes are branches of others.
    #[must_use]
    pub fn branches(&self) -> usize {
        let named = self.named.iter();
        named.filter(|found| found.header.branch.is_some()).count()
    }

    /// All finished episodes below `inputs`, which are bundles or directories above them, and the siblings of each. A
    /// bundle that two inputs reach counts once.
    ///
    /// # Errors
    /// [`BundleError`] when an input holds no bundle, or the header of a named one is damaged.
    pub fn below(inputs: &[PathBuf]) -> Result<Self, BundleError> {
        let mut named = Roots::new();
        for input in inputs {
            let mut below = Roots::new();
            collect(input, DEPTH, &mut below)?;
            if below.is_empty() {
                let what = format!("{} holds no bundle", input.display());
                return Err(BundleError::input(
                    what,
                    "name results directories, such as results/NAME, or bundles in results/NAME/cells",
                ));
            }
            for (real, root) in below {
                named.entry(real).or_insert(root);
            }
        }
        let mut siblings = Roots::new();
        let folders: BTreeSet<&Path> = named.keys().filter_map(|real| real.parent()).collect();
        for folder in folders {
            collect(folder, 1, &mut siblings)?;
        }
        let mut findings = Self::default();
        for root in named.values() {
            findings.sort(root, true)?;
        }
        for (_, root) in siblings.iter().filter(|(real, _)| !named.contains_key(*real)) {
            if let Err(error) = findings.sort(root, false) {
                findings.damaged.push(error.to_string());
            }
        }
        Ok(findings)
    }

    fn sort(&mut self, root: &Path, is_named: bool) -> Result<(), BundleError> {
        let found = BundleRef::read(root)?;
        match (found.is_finished(), is_named) {
            (true, true) => self.named.push(found),
            (true, false) => self.siblings.push(found),
            (false, true) => self.unfinished.push(root.to_owned()),
            (false, false) => {}
        }
        Ok(())
    }
}

/// Bundles by what their paths really are, as they were named.
type Roots = BTreeMap<PathBuf, PathBuf>;

fn collect(folder: &Path, depth: usize, bundles: &mut Roots) -> Result<(), BundleError> {
    if folder.join("header.json").is_file() {
        let real = folder.canonicalize().map_err(BundleError::io("read", folder))?;
        bundles.insert(real, folder.to_owned());
        return Ok(());
    }
    if depth == 0 || !folder.is_dir() {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(BundleError::io("list", folder))?;
    for entry in entries {
        let path = entry.map_err(BundleError::io("list", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "private" && !is_set_aside(&name) {
            collect(&path, depth - 1, bundles)?;
        }
    }
    Ok(())
}
