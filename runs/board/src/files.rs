//! The files of a board: those of its report and a manifest, which are one board or none.
//!
//! All are made and written aside before the first of them is replaced. Of a board that replaces another, `manifest.json` is
//! taken away first and put last: where it stands, every file is of the board whose content hash it names.

use crate::record::Leaderboard;
use crate::sheet::TableKind;
use crate::{BoardError, page};
use ktd_attribution::account::WeightBasis;
use ktd_bundle::lies_in_private;
use ktd_io::FileError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{json_bytes, list_if_exists};
use ktd_io::whole_folder::write_report;
use ktd_record::signer_mark::SignerMark;
use ktd_record::signing::SigningKey;
use ktd_study::kind_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The page.
pub(crate) const PAGE: &str = "index.html";
/// The record.
pub(crate) const RECORD: &str = "leaderboard.json";
/// What says that a board is whole.
pub(crate) const MANIFEST: &str = "manifest.json";
/// Who signed the manifest, where anybody did.
pub(crate) const SIGNATURE: &str = "signature.json";
/// The folders of the tables, as CSV and as Parquet.
pub(crate) const FOLDERS: [&str; 2] = [page::TABLES, "parquet"];

/// What a folder holds of one board: `manifest.json`, written after everything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardManifest {
    /// The content hash that page and JSON carry.
    pub content_sha256: String,
    /// SHA-256 of each file, by its path below the folder.
    pub files: BTreeMap<String, String>,
}

/// Writes a board into a folder, signed where there is a key, in place of an earlier one with its tables. Returns the path of
/// the page, and who signed.
///
/// # Errors
/// [`BoardError`] when a file cannot be written. Before the first is replaced, the old board stands; after it there is no
/// manifest.
pub fn write_board(
    board: &Leaderboard,
    out: &Path,
    basis: WeightBasis,
    key: Option<&SigningKey>,
) -> Result<(PathBuf, Option<SignerMark>), BoardError> {
    check_place(board, out)?;
    let files = files(board, basis)?;
    let hashes = files
        .iter()
        .map(|(path, bytes)| (path.clone(), sha256_hex(bytes)));
    let manifest = BoardManifest {
        content_sha256: board.content_sha256.clone(),
        files: hashes.collect(),
    };
    let path = out.join(MANIFEST);
    // The manifest stands for all.
    let mut all = vec![(MANIFEST.to_owned(), json_bytes(&path, &manifest)?)];
    let signature = key.map(|key| key.sign(&manifest)).transpose()?;
    if let Some(signature) = &signature {
        all.push((SIGNATURE.to_owned(), json_bytes(&path, signature)?));
    }
    let obsolete = obsolete(out, &files)?;
    all.extend(files);
    write_report(out, all, &obsolete)?;
    let signer = signature.map(|signature| SignerMark {
        fingerprint: Some(signature.fingerprint),
        is_named: true,
    });
    Ok((out.join(PAGE), signer))
}

/// A board does not replace the pages of a study, and one that tells of windows which are not opened lies where nothing is shown or
/// given away from.
fn check_place(board: &Leaderboard, out: &Path) -> Result<(), BoardError> {
    if kind_of(out).is_some() {
        return Err(BoardError::input(
            format!(
                "{} holds a study, whose own report a board would replace",
                out.display()
            ),
            format!("write the board below it: --out {}", out.join("board").display()),
        ));
    }
    if board.names_closed_windows && !lies_in_private(out) {
        return Err(BoardError::input(
            format!(
                "{}: this board tells of windows that are not opened, for their owner alone",
                out.display()
            ),
            "write it below a folder called `private`, such as --out private/board; without --real it may be anywhere",
        ));
    }
    Ok(())
}

/// Every file by its path below the folder.
fn files(board: &Leaderboard, basis: WeightBasis) -> Result<BTreeMap<String, Vec<u8>>, BoardError> {
    // Series of days stand in it by the thousand: one number a line would double its size.
    let record = serde_json::to_vec(board)
        .map_err(|error| FileError::damaged(Path::new(RECORD), error.to_string()))?;
    let files = page::report(board, basis).files(RECORD, record);
    let files = files.map_err(|error| BoardError::input(&error, error.hint()))?;
    Ok(files.into_iter().collect())
}

/// What an earlier board left, which beside this one would look like its own: its signature, and tables that this one has
/// not, also such as a killed process never put in place.
fn obsolete(out: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<PathBuf>, BoardError> {
    let mut obsolete = vec![out.join(SIGNATURE)];
    for folder in FOLDERS {
        let is_obsolete = |path: &PathBuf| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let unfinished = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part"));
            let stem = unfinished.unwrap_or(name).rsplit_once('.');
            let stem = stem.and_then(|(stem, kind)| ["csv", "parquet"].contains(&kind).then_some(stem));
            let is_table = |kind: &TableKind| {
                let rest = stem.and_then(|stem| stem.strip_prefix(kind.label()));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            };
            TableKind::ALL.iter().any(is_table) && !files.contains_key(&format!("{folder}/{name}"))
        };
        obsolete.extend(list_if_exists(&out.join(folder))?.into_iter().filter(is_obsolete));
    }
    Ok(obsolete)
}
