//! Published bundles: finished episodes with what ranking them again needs, under one signed manifest.

use ktd_experiment::config::is_file_name;
use ktd_masking::{Level, Numeric};
use ktd_record::RecordError;
use ktd_record::program_record::ProgramRecord;
use ktd_record::signed_folder::{
    FolderManifest, NO_PUBLICATION, PUBLICATION, Signed, check_files, untrusted,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// Version of that file's form.
pub const PUBLICATION_FORMAT: u32 = 1;

/// What is copied of a bundle, in the order of writing; the last may be missing.
pub(crate) const PUBLISHED_FILES: [&str; 7] = [
    "header.json",
    "events.jsonl",
    "exchanges.jsonl.zst",
    "summary.json",
    "private/episode.json",
    "private/ledger.jsonl",
    "private/summary.json",
];

/// How deep below the folder of a publication its bundles lie: EXPERIMENT/cells/CELL.
const DEPTH: usize = 3;

/// How deep below a named directory bundles are looked for: results/EXPERIMENT/cells/CELL.
pub(crate) const SEARCH_DEPTH: usize = 4;

/// `published.json`: what was published, and whose signature it has.
pub type Publication = Signed<PublicationManifest>;

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicationManifest {
    /// [`PUBLICATION_FORMAT`].
    pub format: u32,
    /// Version of the program that published them.
    pub ktd: String,
    /// What publishing them opened for everybody, in sentences; empty where no mask hid anything.
    pub opens: Vec<String>,
    /// Finished episodes beside the published ones that were kept back: they were tried too.
    pub kept_back: usize,
    /// The bundles by their paths below the folder.
    pub bundles: BTreeMap<String, PublishedBundle>,
}

/// One published bundle.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedBundle {
    /// Version of the program that made it.
    pub ktd: String,
    /// That program by its sources, where the bundle says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub program: Option<ProgramRecord>,
    /// The experiment's name.
    pub experiment: String,
    /// The episode's identity in the experiment.
    pub cell: String,
    /// Which identifiers were hidden.
    pub level: Level,
    /// How numbers were shown.
    pub numeric: Numeric,
    /// What bound the episode's mask key since it began; the key is in `private/episode.json` now.
    pub mask_commitment: String,
    /// SHA-256 of each file, by its path below the bundle.
    pub files: BTreeMap<String, String>,
}

impl FolderManifest for PublicationManifest {
    const FORMAT: u32 = PUBLICATION_FORMAT;

    fn format(&self) -> u32 {
        self.format
    }
}

/// The folder of the publication that a bundle at this absolute path lies in, however deep one is looked for.
#[must_use]
pub fn publication_of(bundle: &Path) -> Option<&Path> {
    let above = bundle.ancestors().skip(1).take(SEARCH_DEPTH);
    above.into_iter().find(|folder| folder.join(PUBLICATION).exists())
}

impl PublicationManifest {
    /// How many files it names.
    #[must_use]
    pub fn file_count(&self) -> usize {
        self.bundles.values().map(|bundle| bundle.files.len()).sum()
    }

    /// Checks that the folder holds the files that were signed and nothing else.
    ///
    /// # Errors
    /// [`RecordError::Untrusted`] naming the first file that was changed or is missing, or what lies there besides.
    pub fn check_files(&self, folder: &Path) -> Result<(), RecordError> {
        let mut files = BTreeMap::new();
        for (place, bundle) in &self.bundles {
            if !is_place(place) {
                let what = format!("{place:?} is no path of a published bundle");
                return Err(untrusted(&folder.join(PUBLICATION), what, NO_PUBLICATION));
            }
            for (file, sha256) in &bundle.files {
                if !PUBLISHED_FILES.contains(&file.as_str()) {
                    let what = "a publication holds no such file".to_owned();
                    return Err(untrusted(&folder.join(place).join(file), what, NO_PUBLICATION));
                }
                files.insert(format!("{place}/{file}"), sha256.clone());
            }
        }
        check_files(folder, &files)
    }
}

/// Whether a stranger's path stays below the folder.
fn is_place(place: &str) -> bool {
    let parts: Vec<&str> = place.split('/').collect();
    let is_plain = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    parts.len() == DEPTH && parts.iter().all(|part| is_file_name(part)) && is_plain(Path::new(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_of_a_manifest_leads_out_of_its_folder() {
        assert!(is_place("try/cells/momentum__w__blinded-exact__memory-only__s1"));
        for place in [
            "",
            "a",
            "a/b",
            "../a/b",
            "a/../b",
            "/a/b/c",
            "a//b",
            "a/b/c/d",
            "a/cells/..",
        ] {
            assert!(!is_place(place), "{place:?}");
        }
    }
}
