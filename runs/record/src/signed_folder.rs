//! A folder that is given away: one signed manifest that names every file of it by its hash.

use crate::RecordError;
use crate::signer_mark::SignerMark;
use crate::signing::{PublicKey, Signature, SigningKey};
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, list, read_bounded, write_whole};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The manifest of a folder that is given away.
pub const PUBLICATION: &str = "published.json";

/// A manifest, and whose signature it has.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed<M> {
    /// What is signed.
    pub manifest: M,
    /// By whom.
    pub signature: Signature,
}

/// Manifest of a folder that is given away.
pub trait FolderManifest: Serialize + DeserializeOwned {
    /// The version of its form that this program reads.
    const FORMAT: u32;

    /// The version of its form that it says.
    fn format(&self) -> u32;
}

/// What to do about a file that was changed.
pub const CHANGED: &str = "it was changed after it was signed: take the publication from its signer again";
/// What to do about a folder that is no publication of this version.
pub const NO_PUBLICATION: &str = "name a folder that `ktd publish` of this version wrote";
const ANOTHER_SIGNER: &str =
    "compare the fingerprint with the one that the signer gives you, and name the key with --signer";

impl<M: FolderManifest> Signed<M> {
    /// Signs a manifest and writes it to a folder.
    ///
    /// # Errors
    /// [`RecordError::Input`] when it cannot be canonical JSON, [`RecordError::File`] when it cannot be written.
    pub fn write(manifest: M, key: &SigningKey, path: &Path) -> Result<Self, RecordError> {
        let signature = key.sign(&manifest)?;
        let signed = Self { manifest, signature };
        write_whole(path, &json_bytes(path, &signed)?)?;
        Ok(signed)
    }

    /// The manifest in a folder, its signature checked. Where `signers` are named, one of them must have signed.
    ///
    /// # Errors
    /// [`RecordError::Untrusted`] when it was changed, is not signed, or is signed with another key.
    pub fn read(folder: &Path, signers: &[PublicKey]) -> Result<Self, RecordError> {
        let path = folder.join(PUBLICATION);
        let bytes = read_bounded(&path, JSON_LIMIT_BYTES)?;
        let untrusted = |what: String, hint| untrusted(&path, what, hint);
        let signed: Self = serde_json::from_slice(&bytes)
            .map_err(|error| untrusted(format!("it is not a signed publication: {error}"), NO_PUBLICATION))?;
        let (format, known) = (signed.manifest.format(), M::FORMAT);
        if format != known {
            let what = format!("format {format}, but this program reads format {known}");
            return Err(untrusted(what, NO_PUBLICATION));
        }
        if let Some(fault) = signed.signature.fault(&signed.manifest)? {
            return Err(untrusted(fault.to_owned(), CHANGED));
        }
        // White space and the order of keys are not signed, so they are compared.
        if bytes != json_bytes(&path, &signed)? {
            let what = "its bytes are not those that were written".to_owned();
            return Err(untrusted(what, CHANGED));
        }
        if !signers.is_empty() && !signed.signer(signers).is_named {
            let fingerprint = &signed.signature.fingerprint;
            let what = format!("it is signed with the key {fingerprint}, which was not named");
            return Err(untrusted(what, ANOTHER_SIGNER));
        }
        Ok(signed)
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
}

/// Checks that a folder holds the files that were signed, by their paths below it, and beside its manifest nothing else.
///
/// # Errors
/// [`RecordError::Untrusted`] naming the first file that was changed or is missing, or what lies there besides.
pub fn check_files(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), RecordError> {
    let manifest = folder.join(PUBLICATION);
    let mut signed = BTreeSet::from([manifest.clone()]);
    for (file, sha256) in files {
        if !is_plain(Path::new(file)) {
            let what = format!("{file:?} is no path of a published file");
            return Err(untrusted(&manifest, what, NO_PUBLICATION));
        }
        let path = folder.join(file);
        let what = match std::fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => "it was published as a file, and is none",
            Ok(_) if sha256_file(&path)? != *sha256 => "its hash is not the one that was signed",
            Ok(_) => {
                signed.insert(path);
                continue;
            }
            Err(_) => "it was published, but is missing",
        };
        return Err(untrusted(&path, what.to_owned(), CHANGED));
    }
    let Some(added) = added(folder, &signed)? else {
        return Ok(());
    };
    let what = format!("it is not in {}", manifest.display());
    Err(untrusted(
        &added,
        what,
        "remove it: its signer did not publish it",
    ))
}

/// A fault of what somebody signed.
#[must_use]
pub fn untrusted(path: &Path, what: String, hint: &'static str) -> RecordError {
    RecordError::Untrusted {
        path: path.to_owned(),
        what,
        hint,
    }
}

/// Whether a stranger's path stays below the folder.
#[must_use]
pub fn is_plain(path: &Path) -> bool {
    let is_normal = |part| matches!(part, Component::Normal(_));
    path.components().next().is_some() && path.components().all(is_normal)
}

/// The first file, link or folder below `folder` that is neither signed nor on the way to a signed one. Links are not
/// followed: where one leads may change.
fn added(folder: &Path, signed: &BTreeSet<PathBuf>) -> Result<Option<PathBuf>, RecordError> {
    for path in list(folder)? {
        let kind = std::fs::symlink_metadata(&path).map_err(RecordError::io("read", &path))?;
        let is_signed = if kind.is_dir() {
            let mut from = signed.range(path.clone()..);
            from.next().is_some_and(|file| file.starts_with(&path))
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
        assert!(is_plain(Path::new("units/a/result.json")));
        for place in ["", "..", "../a", "a/../b", "/a"] {
            assert!(!is_plain(Path::new(place)), "{place:?}");
        }
    }
}
