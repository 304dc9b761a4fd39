//! Published bundles: finished episodes with what ranking them again needs, under one signed manifest.

use ktd_experiment::config::is_file_name;
use ktd_experiment::label;
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, list, read_bounded};
use ktd_masking::{Level, Numeric};
use ktd_record::RecordError;
use ktd_record::program_record::ProgramRecord;
use ktd_record::signer_mark::SignerMark;
use ktd_record::signing::{PublicKey, Signature, SigningKey};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The file that says what was published, in the folder above the bundles.
pub const PUBLICATION: &str = "published.json";

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

/// The most that one file of a bundle may hold: as its own reader allows.
pub(crate) const FILE_LIMIT_BYTES: u64 = LineKind::Exchanges.bounds().file_bytes;

/// How deep below the folder of a publication its bundles lie: EXPERIMENT/cells/CELL.
const DEPTH: usize = 3;

/// How deep below a named directory bundles are looked for: results/EXPERIMENT/cells/CELL.
pub(crate) const SEARCH_DEPTH: usize = 4;

/// `published.json`: what was published, and whose signature it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// What is signed.
    pub manifest: PublicationManifest,
    /// By whom.
    pub signature: Signature,
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(with = "label")]
    pub level: Level,
    /// How numbers were shown.
    #[serde(with = "label")]
    pub numeric: Numeric,
    /// What bound the episode's mask key since it began; the key is in `private/episode.json` now.
    pub mask_commitment: String,
    /// SHA-256 of each file, by its path below the bundle.
    pub files: BTreeMap<String, String>,
}

const CHANGED: &str = "it was changed after it was signed: take the publication from its signer again";
const ANOTHER_SIGNER: &str =
    "compare the fingerprint with the one that the signer gives you, and name the key with --signer";
const NO_PUBLICATION: &str = "name a folder that `ktd publish` of this version wrote";

impl Publication {
    /// Signs a manifest.
    ///
    /// # Errors
    /// [`RecordError::Input`] when it cannot be canonical JSON.
    pub fn sign(manifest: PublicationManifest, key: &SigningKey) -> Result<Self, RecordError> {
        let signature = key.sign(&manifest)?;
        Ok(Self { manifest, signature })
    }

    /// The folder of the publication that a bundle at this absolute path lies in, however deep one is looked for.
    #[must_use]
    pub fn folder_of(bundle: &Path) -> Option<&Path> {
        let above = bundle.ancestors().skip(1).take(SEARCH_DEPTH);
        above.into_iter().find(|folder| folder.join(PUBLICATION).exists())
    }

    /// The manifest in a folder, its signature checked. Where `signers` are named, one of them must have signed.
    ///
    /// # Errors
    /// [`RecordError::Untrusted`] when it was changed, is not signed, or is signed with another key.
    pub fn read(folder: &Path, signers: &[PublicKey]) -> Result<Self, RecordError> {
        let path = folder.join(PUBLICATION);
        let bytes = read_bounded(&path, JSON_LIMIT_BYTES)?;
        let untrusted = |what: String, hint| untrusted(&path, what, hint);
        let publication: Self = serde_json::from_slice(&bytes)
            .map_err(|error| untrusted(format!("it is not a signed publication: {error}"), NO_PUBLICATION))?;
        let format = publication.manifest.format;
        if format != PUBLICATION_FORMAT {
            let what = format!("format {format}, but this program reads format {PUBLICATION_FORMAT}");
            return Err(untrusted(what, NO_PUBLICATION));
        }
        if let Some(fault) = publication.signature.fault(&publication.manifest)? {
            return Err(untrusted(fault.to_owned(), CHANGED));
        }
        // White space and the order of keys are not signed, so they are compared.
        if bytes != json_bytes(&path, &publication)? {
            let what = "its bytes are not those that were written".to_owned();
            return Err(untrusted(what, CHANGED));
        }
        if !signers.is_empty() && !publication.signer(signers).is_named {
            let fingerprint = &publication.signature.fingerprint;
            let what = format!("it is signed with the key {fingerprint}, which was not named");
            return Err(untrusted(what, ANOTHER_SIGNER));
        }
        Ok(publication)
    }

    /// Who signed it, of the keys that the reader named.
    #[must_use]
    pub fn signer(&self, signers: &[PublicKey]) -> SignerMark {
        let own = self.signature.signer();
        SignerMark {
            fingerprint: Some(self.signature.fingerprint.clone()),
            is_named: signers.iter().any(|named| own == Some(*named)),
        }
    }

    /// How many files it names.
    #[must_use]
    pub fn file_count(&self) -> usize {
        self.manifest
            .bundles
            .values()
            .map(|bundle| bundle.files.len())
            .sum()
    }

    /// Checks that the folder holds the files that were signed and nothing else.
    ///
    /// # Errors
    /// [`RecordError::Untrusted`] naming the first file that was changed or is missing, or what lies there besides.
    pub fn check_files(&self, folder: &Path) -> Result<(), RecordError> {
        let mut signed = BTreeSet::from([folder.join(PUBLICATION)]);
        for (place, bundle) in &self.manifest.bundles {
            if !is_place(place) {
                let what = format!("{place:?} is no path of a published bundle");
                return Err(untrusted(&folder.join(PUBLICATION), what, NO_PUBLICATION));
            }
            let root = folder.join(place);
            check_bundle(&root, bundle)?;
            signed.extend(bundle.files.keys().map(|file| root.join(file)));
        }
        let Some(added) = added(folder, &signed)? else {
            return Ok(());
        };
        let what = format!("it is not in {}", folder.join(PUBLICATION).display());
        Err(untrusted(
            &added,
            what,
            "remove it: its signer did not publish it",
        ))
    }
}

pub(crate) fn untrusted(path: &Path, what: String, hint: &'static str) -> RecordError {
    RecordError::Untrusted {
        path: path.to_owned(),
        what,
        hint,
    }
}

/// Whether a stranger's path stays below the folder.
fn is_place(place: &str) -> bool {
    let parts: Vec<&str> = place.split('/').collect();
    let is_plain = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    parts.len() == DEPTH && parts.iter().all(|part| is_file_name(part)) && is_plain(Path::new(place))
}

fn check_bundle(root: &Path, bundle: &PublishedBundle) -> Result<(), RecordError> {
    for (file, sha256) in &bundle.files {
        let path = root.join(file);
        if !PUBLISHED_FILES.contains(&file.as_str()) {
            let what = "a publication holds no such file".to_owned();
            return Err(untrusted(&path, what, NO_PUBLICATION));
        }
        if !path.exists() {
            return Err(untrusted(
                &path,
                "it was published, but is missing".to_owned(),
                CHANGED,
            ));
        }
        if sha256_hex(&read_bounded(&path, FILE_LIMIT_BYTES)?) != *sha256 {
            let what = "its hash is not the one that was signed".to_owned();
            return Err(untrusted(&path, what, CHANGED));
        }
    }
    Ok(())
}

/// The first file, link or folder below `folder` that is neither signed nor on the way to a signed one. Links are not
/// followed: where one leads may change.
fn added(folder: &Path, signed: &BTreeSet<PathBuf>) -> Result<Option<PathBuf>, RecordError> {
    for path in list(folder)? {
        let kind = std::fs::symlink_metadata(&path).map_err(RecordError::io("read", &path))?;
        let is_signed = if kind.is_dir() {
            signed.iter().any(|file| file.starts_with(&path))
        } else {
            kind.is_file() && signed.contains(&path)
        };
        if !is_signed {
            return Ok(Some(path));
        }
        if kind.is_dir()
            && let Some(added) = added(&path, signed)?
        {
            return Ok(Some(added));
        }
    }
    Ok(None)
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
