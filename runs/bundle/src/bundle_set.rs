//! Finding bundles on disk: those named, and their siblings.

use crate::bundle_ref::BundleRef;
use crate::canary::CANARIES;
use crate::publication::{Publication, SEARCH_DEPTH, publication_of};
use crate::{CELLS, PRIVATE};
use ktd_experiment::provider::Provider;
use ktd_experiment::recorded_rules::RecordedRules;
use ktd_io::whole_folder::is_unfinished;
use ktd_record::RecordError;
use ktd_record::set_aside::is_set_aside;
use ktd_record::signer_mark::{FINGERPRINT_DIGITS, SignerMark};
use ktd_record::signing::PublicKey;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// What each publication says of the finished episodes that it kept back: they were tried too.
    pub kept_back: Vec<String>,
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
    /// bundle that two inputs reach counts once. Of those that were published every file is as it was signed.
    ///
    /// # Errors
    /// [`RecordError`] when an input holds no bundle, the header of a named one is damaged, or a publication was changed.
    pub fn below(inputs: &[PathBuf]) -> Result<Self, RecordError> {
        let mut findings = Self::found(inputs)?;
        findings.check_publications(&[])?;
        Ok(findings)
    }

    /// The same, each published bundle signed with one of `signers` where any is named. Agents of one id whose bundles
    /// different keys signed are called by id and fingerprint, so that no lab's row holds another's episodes.
    ///
    /// # Errors
    /// Those of [`Self::below`], and when a publication is signed with another key, or a key signed none.
    pub fn below_signed(inputs: &[PathBuf], signers: &[PublicKey]) -> Result<Self, RecordError> {
        let mut findings = Self::found(inputs)?;
        findings.check_publications(signers)?;
        findings.name_rows();
        let marks = findings.named.iter().map(|found| &found.signer);
        let known: BTreeSet<Option<&str>> = marks.map(|mark| mark.fingerprint.as_deref()).collect();
        let fingerprints = signers.iter().map(PublicKey::fingerprint);
        match fingerprints.into_iter().find(|key| !known.contains(&Some(key))) {
            None => Ok(findings),
            Some(key) => Err(RecordError::input(
                format!("nothing below the named directories is signed with the key {key}"),
                "name the folder that `ktd publish` wrote for this signer, or take the key out",
            )),
        }
    }

    fn found(inputs: &[PathBuf]) -> Result<Self, RecordError> {
        let mut named = Roots::new();
        for input in inputs {
            let mut below = Roots::new();
            collect(input, SEARCH_DEPTH, &mut below)?;
            if below.is_empty() {
                let why = if input.exists() {
                    "holds no bundle"
                } else {
                    "is not there"
                };
                let what = format!("{} {why}", input.display());
                return Err(RecordError::input(
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
        let (mut findings, mut parts) = (Self::default(), SharedParts::default());
        for root in named.values() {
            findings.sort(root, true, &mut parts)?;
        }
        for (_, root) in siblings.iter().filter(|(real, _)| !named.contains_key(*real)) {
            if let Err(error) = findings.sort(root, false, &mut parts) {
                findings.damaged.push(error.to_string());
            }
        }
        Ok(findings)
    }

    /// Reads each publication once, checks its files, and marks its bundles with its signer.
    fn check_publications(&mut self, signers: &[PublicKey]) -> Result<(), RecordError> {
        let mut known: BTreeMap<PathBuf, Publication> = BTreeMap::new();
        let mut signer_of = |root: &Path| -> Result<SignerMark, RecordError> {
            let real = root.canonicalize().map_err(RecordError::io("read", root))?;
            // A link in a publication that leads out of it was not published either.
            let linked = std::path::absolute(root).map_err(RecordError::io("read", root))?;
            let folder = publication_of(&real).or_else(|| publication_of(&linked));
            let Some(folder) = folder else {
                return Ok(SignerMark::default());
            };
            if !known.contains_key(folder) {
                let publication = Publication::read(folder, signers)?;
                publication.manifest.check_files(folder)?;
                known.insert(folder.to_owned(), publication);
            }
            let publication = known.get(folder);
            Ok(publication.map_or_else(SignerMark::default, |publication| publication.signer(signers)))
        };
        for found in self.named.iter_mut().chain(&mut self.siblings) {
            found.signer = signer_of(&found.root)?;
        }
        for root in &self.unfinished {
            signer_of(root)?;
        }
        self.kept_back = known.values().map(kept_back).collect();
        self.kept_back.sort();
        Ok(())
    }

    /// Names the rows of agents whose id bundles of several signers have.
    fn name_rows(&mut self) {
        let mut signers: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
        for found in &self.named {
            let own = signers.entry(found.header.agent.id.clone()).or_default();
            own.insert(found.signer.fingerprint.clone());
        }
        let fingerprints: BTreeSet<&String> = signers.values().flatten().flatten().collect();
        let digits = distinct_digits(&fingerprints);
        for found in &mut self.named {
            let id = &found.header.agent.id;
            let has_others = signers.get(id).is_some_and(|own| 1 < own.len());
            if let Some(fingerprint) = found.signer.fingerprint.as_ref().filter(|_| has_others) {
                let shown = fingerprint.get(..digits).unwrap_or(fingerprint);
                found.row = format!("{id}@{shown}");
            }
        }
    }

    fn sort(&mut self, root: &Path, is_named: bool, parts: &mut SharedParts) -> Result<(), RecordError> {
        let mut found = BundleRef::read(root)?;
        parts.share(&mut found);
        match (found.is_finished(), is_named) {
            (true, true) => self.named.push(found),
            (true, false) => self.siblings.push(found),
            (false, true) => self.unfinished.push(root.to_owned()),
            (false, false) => {}
        }
        Ok(())
    }
}

/// Large parts of headers that many have alike, which are in memory once: of 100,000 episodes they would be half a GB.
#[derive(Default)]
struct SharedParts {
    providers: Vec<Arc<Provider>>,
    rules: Vec<Arc<RecordedRules>>,
}

impl SharedParts {
    fn share(&mut self, bundle: &mut BundleRef) {
        let header = Arc::make_mut(&mut bundle.header);
        share(&mut self.providers, &mut header.provider, Provider::eq);
        share(&mut self.rules, &mut header.rules, RecordedRules::is_written_as);
    }
}

/// Replaces a part by one that is known and the same.
fn share<T>(known: &mut Vec<Arc<T>>, own: &mut Arc<T>, is_same: impl Fn(&T, &T) -> bool) {
    match known.iter().find(|known| is_same(known, own)) {
        Some(known) => *own = Arc::clone(known),
        None => known.push(Arc::clone(own)),
    }
}

/// What a publication says of finished episodes that are not in it.
fn kept_back(publication: &Publication) -> String {
    let key = &publication.signature.fingerprint;
    let key = key.get(..FINGERPRINT_DIGITS).unwrap_or(key);
    let manifest = &publication.manifest;
    let (held, those) = match manifest.bundles.len() {
        1 => ("1 finished episode".to_owned(), "it"),
        count => (format!("{count} finished episodes"), "them"),
    };
    let count = match manifest.kept_back {
        0 => "none".to_owned(),
        count => count.to_string(),
    };
    format!("the publication of {key} holds {held} and says that {count} beside {those} were kept back")
}

/// The digits of fingerprints that tell all of them apart: whoever draws keys until the first ones are another's stands
/// apart all the same.
fn distinct_digits(fingerprints: &BTreeSet<&String>) -> usize {
    let longest = fingerprints.iter().map(|fingerprint| fingerprint.len());
    let longest = longest.max().unwrap_or(FINGERPRINT_DIGITS);
    let are_distinct = |digits: &usize| {
        let shown = fingerprints.iter().map(|fingerprint| fingerprint.get(..*digits));
        shown.collect::<BTreeSet<_>>().len() == fingerprints.len()
    };
    (FINGERPRINT_DIGITS..longest)
        .find(are_distinct)
        .unwrap_or(longest)
}

/// Bundles by what their paths really are, as they were named.
type Roots = BTreeMap<PathBuf, PathBuf>;

fn collect(folder: &Path, depth: usize, bundles: &mut Roots) -> Result<(), RecordError> {
    if folder.join("header.json").is_file() {
        let real = folder.canonicalize().map_err(RecordError::io("read", folder))?;
        bundles.insert(real, folder.to_owned());
        return Ok(());
    }
    if depth == 0 || !folder.is_dir() {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(RecordError::io("list", folder))?;
    for entry in entries {
        let path = entry.map_err(RecordError::io("list", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_results = name != PRIVATE && name != CANARIES && !is_set_aside(&name) && !is_unfinished(&path);
        if path.is_dir() && is_results {
            collect(&path, depth - 1, bundles)?;
        }
        // Sealed episodes lie where their owner alone finds them.
        if name == PRIVATE {
            collect(&path.join(CELLS), depth.min(1), bundles)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_that_begin_alike_are_told_apart() {
        let fingerprint = |start: &str| format!("{start:0<64}");
        let digits = |starts: &[&str]| {
            let all: Vec<String> = starts.iter().map(|start| fingerprint(start)).collect();
            distinct_digits(&all.iter().collect())
        };
        assert_eq!(digits(&[]), 8);
        assert_eq!(digits(&["a"]), 8);
        assert_eq!(digits(&["a", "b"]), 8);
        assert_eq!(digits(&["0123456789a", "0123456789b"]), 11);
    }
}
