//! What lies below the named directories: experiments with their episodes, boards and certificates.

use crate::board::Board;
use crate::entry::{EpisodeContent, EpisodeEntry};
use crate::plain_files::is_own_directory;
use crate::slug::{plain, unique};
use crate::study::StudyEntry;
use crate::{ViewerError, slug};
use ktd_bundle::canary::CANARIES;
use ktd_bundle::{BundlePaths, PRIVATE, results_of};
use ktd_io::lock::FileLock;
use ktd_io::parallel::{available_threads, in_parallel};
use ktd_io::whole_file::list;
use ktd_io::whole_folder::is_unfinished;
use ktd_record::set_aside::is_set_aside;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// How deep below a named directory is looked: RESULTS/EXPERIMENT/cells/CELL.
const SEARCH_DEPTH: usize = 4;
/// Episodes that are listed; a directory of more is named in parts.
const EPISODES_MAX: usize = 20_000;

/// Experiments in the order of their directories.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// The experiments.
    pub experiments: Vec<ExperimentEntry>,
    /// Studies of every kind.
    pub studies: Vec<StudyEntry>,
    /// Whether more episodes were found than are listed.
    pub is_cut: bool,
}

/// A directory of results.
#[derive(Debug, Clone)]
pub struct ExperimentEntry {
    /// Its name in addresses.
    pub slug: String,
    /// Its directory.
    pub folder: PathBuf,
    /// Its episodes, in the order of their names.
    pub episodes: Vec<Arc<EpisodeEntry>>,
    /// Boards below it.
    pub boards: Vec<DocumentEntry>,
    /// Certificates below it.
    pub certificates: Vec<DocumentEntry>,
}

/// A document beside episodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentEntry {
    /// Its name in addresses.
    pub slug: String,
    /// The folder that it lies in.
    pub folder: PathBuf,
}

impl Catalogue {
    /// The study of an address.
    #[must_use]
    pub fn study(&self, slug: &str) -> Option<&StudyEntry> {
        self.studies.iter().find(|study| study.slug == slug)
    }

    /// Studies whose units are no episodes.
    pub fn other_studies(&self) -> impl Iterator<Item = &StudyEntry> {
        self.studies.iter().filter(|study| !study.is_experiment)
    }

    /// The episode of an address.
    #[must_use]
    pub fn episode(&self, slug: &str) -> Option<&Arc<EpisodeEntry>> {
        let episodes = self
            .experiments
            .iter()
            .flat_map(|experiment| &experiment.episodes);
        episodes.into_iter().find(|episode| episode.slug == slug)
    }

    /// The experiment of an address.
    #[must_use]
    pub fn experiment(&self, slug: &str) -> Option<&ExperimentEntry> {
        self.experiments.iter().find(|experiment| experiment.slug == slug)
    }

    /// The experiments whose episodes a board ranks: the one that it lies in; of a board beside experiments, those that it tells of.
    pub(crate) fn ranked_by<'c>(
        &'c self,
        home: &'c ExperimentEntry,
        board: Option<&Board>,
    ) -> Vec<&'c ExperimentEntry> {
        if !home.episodes.is_empty() {
            return vec![home];
        }
        let is_ranked = |entry: &Arc<EpisodeEntry>| {
            entry
                .content
                .as_ref()
                .ok()
                .zip(board)
                .is_some_and(|(content, board)| board.ranks(content))
        };
        let all = self.experiments.iter();
        all.filter(|one| one.episodes.iter().any(is_ranked)).collect()
    }

    /// The experiment that an episode is of.
    #[must_use]
    pub fn experiment_of(&self, episode: &EpisodeEntry) -> Option<&ExperimentEntry> {
        let mut experiments = self.experiments.iter();
        experiments.find(|one| one.episodes.iter().any(|other| other.slug == episode.slug))
    }
}

impl ExperimentEntry {
    /// Whether a process writes it now: a run of all, or of one episode, which an outside agent plays.
    pub(crate) fn is_written(&self) -> bool {
        let is_open = |entry: &&Arc<EpisodeEntry>| {
            let content = entry.content.as_ref();
            content.is_ok_and(|content| content.summary().is_none())
        };
        let mut open = self.episodes.iter().filter(is_open);
        is_held(&self.folder) || open.any(|entry| is_held(&entry.root.join(PRIVATE)))
    }
}

/// Whether a process writes a folder now. What cannot be looked at is held by nobody.
pub(crate) fn is_held(folder: &Path) -> bool {
    FileLock::is_held(folder).unwrap_or(false)
}

/// What tells whether a bundle changed: times and sizes of its files.
type Stamp = [Option<(SystemTime, u64)>; 7];

/// Reads the same directories again and again; a bundle that did not change is not read again.
#[derive(Debug)]
pub struct CatalogueReader {
    roots: Vec<PathBuf>,
    with_private: bool,
    known: BTreeMap<PathBuf, (Stamp, Arc<EpisodeEntry>)>,
}

/// What lies below a directory.
#[derive(Debug, Default)]
struct Found {
    bundles: Vec<PathBuf>,
    boards: Vec<PathBuf>,
    certificates: Vec<PathBuf>,
    studies: Vec<PathBuf>,
}

impl CatalogueReader {
    /// A reader of these directories; without the private parts it shows what anyone may see.
    ///
    /// # Errors
    /// [`ViewerError`] when one is no directory.
    pub fn new(roots: &[PathBuf], with_private: bool) -> Result<Self, ViewerError> {
        let mut real = Vec::new();
        for root in roots {
            if !root.is_dir() {
                let what = if root.exists() {
                    "a file, and no directory"
                } else {
                    "no such directory"
                };
                return Err(ViewerError::input(
                    format!("{}: {what}", root.display()),
                    "name results directories, such as results/NAME, or bundles in results/NAME/cells",
                ));
            }
            real.push(root.canonicalize().map_err(ViewerError::io("read", root))?);
        }
        real.sort();
        real.dedup();
        Ok(Self {
            roots: real,
            with_private,
            known: BTreeMap::new(),
        })
    }

    /// What lies there now.
    ///
    /// # Errors
    /// [`ViewerError`] when a directory cannot be listed.
    pub fn read(&mut self) -> Result<Catalogue, ViewerError> {
        let found = self.find()?;
        let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for bundle in found.bundles.iter().take(EPISODES_MAX) {
            folders
                .entry(results_of(bundle))
                .or_default()
                .push(bundle.clone());
        }
        for document in found.boards.iter().chain(&found.certificates) {
            let above = document.parent().unwrap_or(document);
            let has_home = folders.keys().any(|folder| document.starts_with(folder));
            if !has_home {
                folders.entry(above.to_owned()).or_default();
            }
        }
        let mut taken = BTreeSet::new();
        let mut experiments = Vec::new();
        let mut is_there = BTreeSet::new();
        for (folder, mut bundles) in folders {
            bundles.sort_by_cached_key(|root| by_number(&name(root)));
            let slug = unique(&mut taken, &name(&folder), &folder.to_string_lossy());
            let mut cells = BTreeSet::new();
            let own = |root: &PathBuf| {
                let cell = unique(&mut cells, &name(root), &root.to_string_lossy());
                format!("{slug}~{cell}")
            };
            let slugs: Vec<String> = bundles.iter().map(own).collect();
            let bundles: Vec<(PathBuf, String)> = bundles.into_iter().zip(slugs).collect();
            let episodes = in_parallel(&bundles, available_threads(), |(root, slug)| {
                self.known_or_read(root, slug)
            });
            for ((root, _), (stamp, entry)) in bundles.iter().zip(&episodes) {
                self.known.insert(root.clone(), (*stamp, Arc::clone(entry)));
                is_there.insert(root.clone());
            }
            let episodes = episodes.into_iter().map(|(_, entry)| entry).collect();
            let boards = documents(&found.boards, &folder, &slug);
            let certificates = documents(&found.certificates, &folder, &slug);
            experiments.push(ExperimentEntry {
                slug,
                folder,
                episodes,
                boards,
                certificates,
            });
        }
        self.known.retain(|root, _| is_there.contains(root));
        let mut taken = BTreeSet::new();
        let studies = found.studies.iter().map(|folder| {
            let slug = unique(&mut taken, &name(folder), &folder.to_string_lossy());
            StudyEntry {
                slug,
                folder: folder.clone(),
                // A study whose units are episodes is their experiment.
                is_experiment: experiments.iter().any(|found| found.folder == *folder),
            }
        });
        let studies = studies.collect();
        Ok(Catalogue {
            experiments,
            studies,
            is_cut: EPISODES_MAX < found.bundles.len(),
        })
    }

    /// Whether a bundle is as it was when it was read last.
    pub(crate) fn is_current(&self, entry: &EpisodeEntry) -> bool {
        let known = self.known.get(&entry.root);
        known.is_some_and(|(before, _)| *before == stamp(&entry.root))
    }

    /// What changes when anything of the episodes does, without reading a file.
    ///
    /// # Errors
    /// [`ViewerError`] when a directory cannot be listed.
    pub fn fingerprint(&self) -> Result<u64, ViewerError> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        let found = self.find()?;
        for bundle in &found.bundles {
            stamp(bundle).hash(&mut hasher);
            bundle.hash(&mut hasher);
        }
        let folders = found.bundles.iter().map(|bundle| results_of(bundle));
        let folders: BTreeSet<PathBuf> = folders.chain(found.studies).collect();
        for folder in folders {
            is_held(&folder).hash(&mut hasher);
        }
        Ok(hasher.finish())
    }

    fn find(&self) -> Result<Found, ViewerError> {
        let mut found = Found::default();
        for root in &self.roots {
            look(root, (SEARCH_DEPTH, self.with_private), &mut found)?;
        }
        found.bundles.sort();
        found.bundles.dedup();
        found.studies.sort();
        found.studies.dedup();
        Ok(found)
    }

    fn known_or_read(&self, root: &Path, slug: &str) -> (Stamp, Arc<EpisodeEntry>) {
        let stamp = stamp(root);
        // Whose experiment has got another address in the meantime is read again under its new one.
        if let Some((before, entry)) = self.known.get(root)
            && (*before, entry.slug.as_str()) == (stamp, slug)
        {
            return (stamp, Arc::clone(entry));
        }
        let content = EpisodeContent::read(root, self.with_private);
        let entry = EpisodeEntry {
            slug: slug.to_owned(),
            name: name(root),
            root: root.to_owned(),
            content: content.map_err(|error| error.to_string()),
        };
        (stamp, Arc::new(entry))
    }
}

/// Looks for bundles and documents; links are not followed. Sealed episodes and boards of closed windows lie
/// in `private/`, for their owner.
fn look(folder: &Path, (depth, with_private): (usize, bool), found: &mut Found) -> Result<(), ViewerError> {
    if folder.join("header.json").is_file() {
        found.bundles.push(folder.to_owned());
        return Ok(());
    }
    if folder.join("leaderboard.json").is_file() && folder.join("index.html").is_file() {
        found.boards.push(folder.to_owned());
    }
    if folder.join("certificate.json").is_file() {
        found.certificates.push(folder.to_owned());
        return Ok(());
    }
    let is_study = folder.join("study.json").is_file();
    if is_study {
        found.studies.push(folder.to_owned());
    }
    if depth == 0 {
        return Ok(());
    }
    for path in list(folder)? {
        let name = name(&path);
        if is_study && name == "units" {
            continue;
        }
        let is_results = name != PRIVATE && name != CANARIES && !is_set_aside(&name) && !is_unfinished(&path);
        if is_own_directory(&path) && is_results {
            look(&path, (depth - 1, with_private), found)?;
        }
        if with_private && name == PRIVATE && is_own_directory(&path) {
            look(&path, (2, false), found)?;
        }
    }
    Ok(())
}

fn name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "-".to_owned())
}

/// A name with its numbers filled up with zeros: as texts in order, `s2` stands before `s10`.
fn by_number(name: &str) -> String {
    let (mut key, mut rest) = (String::new(), name);
    while let Some((text, digits, after)) = first_number(rest) {
        key.push_str(text);
        // Writing to a string cannot fail.
        write!(key, "{digits:0>20}").ok();
        rest = after;
    }
    key + rest
}

/// What stands before the first number of a text, the number, and what follows.
fn first_number(text: &str) -> Option<(&str, &str, &str)> {
    let begin = text.find(|letter: char| letter.is_ascii_digit())?;
    let (before, from) = text.split_at_checked(begin)?;
    let end = from.find(|letter: char| !letter.is_ascii_digit());
    let (digits, after) = from.split_at_checked(end.unwrap_or(from.len()))?;
    Some((before, digits, after))
}

fn documents(found: &[PathBuf], folder: &Path, slug: &str) -> Vec<DocumentEntry> {
    let mut taken = BTreeSet::new();
    let below = found.iter().filter(|path| path.starts_with(folder));
    let entries = below.map(|path| {
        let relative = path.strip_prefix(folder).unwrap_or(path).to_string_lossy();
        let own = unique(&mut taken, &slug::plain(&relative.replace('/', "~")), &relative);
        DocumentEntry {
            slug: plain(&format!("{slug}.{own}")),
            folder: path.clone(),
        }
    });
    entries.collect()
}

fn stamp(root: &Path) -> Stamp {
    let paths = BundlePaths::new(root);
    let files = [
        paths.header(),
        paths.events(),
        paths.exchanges(),
        paths.summary(),
        paths.episode(),
        paths.ledger(),
        paths.private_summary(),
    ];
    files.map(|path| {
        let metadata = path.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_in_order_of_size() {
        let mut names = ["a__s10", "a__s1", "a__s2", "a__w3__s1", "a10__s1", "a9__s1"];
        names.sort_by_cached_key(|name| by_number(name));
        assert_eq!(
            names,
            ["a9__s1", "a10__s1", "a__s1", "a__s2", "a__s10", "a__w3__s1"]
        );
    }
}
