//! The signature of a board, which binds its page, its JSON and its tables, and how a reader checks all of them.

use crate::BoardError;
use crate::files::{BoardManifest, FOLDERS, MANIFEST, PAGE, RECORD, SIGNATURE};
use ktd_experiment::config::is_file_name;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, list, list_if_exists, parse_json, read_bounded, read_json};
use ktd_record::RecordError;
use ktd_record::signer_mark::SignerMark;
use ktd_record::signing::{PublicKey, Signature};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The most that one file of a board may hold.
pub(crate) const FILE_LIMIT_BYTES: u64 = 1 << 30;

/// How to go on with a board that is not as it was written.
const CHANGED: &str =
    "it was changed after it was written: take the board from its signer again, or rank the bundles again";
const ANOTHER_SIGNER: &str =
    "compare the fingerprint with the one that the signer gives you, and name the key with --signer";

/// Board whose files are those of its manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedBoard {
    /// Files that the manifest names.
    pub files: usize,
    /// The hash that names its content.
    pub content_sha256: String,
    /// Who signed it.
    pub signer: SignerMark,
}

/// The one field of `leaderboard.json` that is compared: a board of another version holds others.
#[derive(Deserialize)]
struct ContentHash {
    content_sha256: String,
}

/// Whether a folder holds a board.
#[must_use]
pub fn is_board(folder: &Path) -> bool {
    folder.join(RECORD).exists()
}

/// Whether a folder holds a signature of a board.
#[must_use]
pub fn is_signed_board(folder: &Path) -> bool {
    folder.join(SIGNATURE).exists()
}

/// Checks a board's files against its manifest, and the manifest against its signature, where it has one. Where `signers`
/// are named, one of them must have signed.
///
/// # Errors
/// [`BoardError`] naming the first file that is missing or not as it was written, and the signature that does not fit.
pub fn check_board(folder: &Path, signers: &[PublicKey]) -> Result<CheckedBoard, BoardError> {
    let path = folder.join(MANIFEST);
    if !path.exists() {
        let what = "it is missing, so that nothing says whether the board is whole";
        return Err(untrusted(&path, what.to_owned(), CHANGED));
    }
    let manifest: BoardManifest = read_json(&path)?;
    for (file, sha256) in &manifest.files {
        let path = folder.join(file);
        if !file.split('/').all(is_file_name) {
            let what = format!("{file:?} is no file of a board");
            return Err(untrusted(&folder.join(MANIFEST), what, CHANGED));
        }
        if !path.exists() || sha256_hex(&read_bounded(&path, FILE_LIMIT_BYTES)?) != *sha256 {
            let what = "it is missing, or its hash is not the one in manifest.json".to_owned();
            return Err(untrusted(&path, what, CHANGED));
        }
    }
    for file in [PAGE, RECORD] {
        if !manifest.files.contains_key(file) {
            let what = format!("it does not name {file}, so that nothing binds it");
            return Err(untrusted(&path, what, CHANGED));
        }
    }
    if let Some(added) = added(folder, &manifest)? {
        let what = "it is not in manifest.json, but would be taken for a part of the board".to_owned();
        return Err(untrusted(
            &added,
            what,
            "remove it: it was not written with the board",
        ));
    }
    let record = folder.join(RECORD);
    let bytes = read_bounded(&record, FILE_LIMIT_BYTES)?;
    let ContentHash { content_sha256 } = parse_json(&record, &bytes)?;
    if content_sha256 != manifest.content_sha256 {
        let what = "its content hash is not the one in manifest.json".to_owned();
        return Err(untrusted(&record, what, CHANGED));
    }
    Ok(CheckedBoard {
        files: manifest.files.len(),
        content_sha256,
        signer: signer(folder, &manifest, signers)?,
    })
}

/// The first file that a reader would take for a part of the board, and that its manifest does not name: anything among the
/// tables, and a page, table or document beside them.
fn added(folder: &Path, manifest: &BoardManifest) -> Result<Option<PathBuf>, BoardError> {
    const KINDS: [&str; 5] = ["html", "htm", "csv", "json", "md"];
    const OWN: [&str; 2] = [MANIFEST, SIGNATURE];
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_of_a_board = |path: &PathBuf| {
        let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase());
        kind.is_some_and(|kind| KINDS.contains(&kind.as_str()))
    };
    let is_named = |place: String| manifest.files.contains_key(&place) || OWN.contains(&place.as_str());
    let beside = list(folder)?.into_iter().filter(is_of_a_board);
    let mut beside = beside.filter(|path| !name(path).is_some_and(is_named));
    if let Some(added) = beside.next() {
        return Ok(Some(added));
    }
    for tables in FOLDERS {
        let mut listed = list_if_exists(&folder.join(tables))?.into_iter();
        let is_listed = |path: &PathBuf| name(path).is_some_and(|name| is_named(format!("{tables}/{name}")));
        if let Some(added) = listed.find(|path| !is_listed(path)) {
            return Ok(Some(added));
        }
    }
    Ok(None)
}

fn signer(folder: &Path, manifest: &BoardManifest, signers: &[PublicKey]) -> Result<SignerMark, BoardError> {
    let path = folder.join(SIGNATURE);
    if !path.exists() {
        if signers.is_empty() {
            return Ok(SignerMark::default());
        }
        let what = "it is missing: nobody signed this board".to_owned();
        return Err(untrusted(&path, what, "ask its maker for signature.json"));
    }
    let bytes = read_bounded(&path, JSON_LIMIT_BYTES)?;
    let signature: Signature = parse_json(&path, &bytes)?;
    if let Some(fault) = signature.fault(manifest)? {
        return Err(untrusted(&path, fault.to_owned(), CHANGED));
    }
    let own = signature.signer();
    let is_named = signers.iter().any(|named| own == Some(*named));
    if !signers.is_empty() && !is_named {
        let what = format!(
            "it is signed with the key {}, which was not named",
            signature.fingerprint
        );
        return Err(untrusted(&path, what, ANOTHER_SIGNER));
    }
    Ok(SignerMark {
        fingerprint: Some(signature.fingerprint),
        is_named,
    })
}

fn untrusted(path: &Path, what: String, hint: &'static str) -> BoardError {
    BoardError::Bundle(RecordError::Untrusted {
        path: path.to_owned(),
        what,
        hint,
    })
}
