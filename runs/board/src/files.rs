//! The files of a board: page, JSON and a CSV of each table, which are one board or none.
//!
//! All are made and written aside before the first of them is replaced. `manifest.json` is taken away first and written
//! last: where it stands, every file is of the board whose content hash it names.

use crate::record::{Leaderboard, Track};
use crate::sheet::{self, TableKind};
use crate::{BoardError, page};
use ktd_attribution::account::WeightBasis;
use ktd_io::FileError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{
    IfExists, check_writable, create_directory, json_bytes, list, remove_directory, remove_file,
    remove_if_exists, rename, write_whole,
};
use ktd_view::draw::TableData;
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
/// The folder of the tables.
pub(crate) const TABLES: &str = "tables";

/// What a folder holds of one board: `manifest.json`, written after everything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardManifest {
    /// The content hash that page and JSON carry.
    pub content_sha256: String,
    /// SHA-256 of each file, by its path below the folder.
    pub files: BTreeMap<String, String>,
}

/// Writes a board into a folder, and removes tables of an earlier one. Returns the path of the page.
///
/// # Errors
/// [`BoardError`] when a file cannot be written. Before the first is replaced, the old board stands; after it there is no
/// manifest.
pub fn write_board(board: &Leaderboard, out: &Path, basis: WeightBasis) -> Result<PathBuf, BoardError> {
    let files = files(board, basis)?;
    let tables = out.join(TABLES);
    create_directory(&tables)?;
    for path in files.keys().map(String::as_str).chain([MANIFEST]) {
        check_writable(&out.join(path), IfExists::Replace)?;
    }
    let aside = out.join(format!(".{}.part", std::process::id()));
    let written = write_aside(&files, &aside).and_then(|()| put_in_place(board, &files, (&aside, out)));
    // What was put in place is gone from it.
    remove_directory(&aside).ok();
    written.map(|()| out.join(PAGE))
}

fn write_aside(files: &BTreeMap<String, Vec<u8>>, aside: &Path) -> Result<(), BoardError> {
    let tables = aside.join(TABLES);
    create_directory(&tables)?;
    for (path, bytes) in files {
        write_whole(&aside.join(path), bytes)?;
    }
    Ok(())
}

fn put_in_place(
    board: &Leaderboard,
    files: &BTreeMap<String, Vec<u8>>,
    (aside, out): (&Path, &Path),
) -> Result<(), BoardError> {
    let manifest = out.join(MANIFEST);
    if manifest.exists() {
        remove_file(&manifest)?;
    }
    remove_if_exists(&out.join(SIGNATURE))?;
    for path in files.keys() {
        rename(&aside.join(path), &out.join(path))?;
    }
    remove_other_tables(&out.join(TABLES), files)?;
    let hashes = files
        .iter()
        .map(|(path, bytes)| (path.clone(), sha256_hex(bytes)));
    let document = BoardManifest {
        content_sha256: board.content_sha256.clone(),
        files: hashes.collect(),
    };
    Ok(write_whole(&manifest, &json_bytes(&manifest, &document)?)?)
}

/// Every file by its path below the folder.
fn files(board: &Leaderboard, basis: WeightBasis) -> Result<BTreeMap<String, Vec<u8>>, BoardError> {
    // Series of days stand in it by the thousand: one number a line would double its size.
    let record = serde_json::to_vec(board)
        .map_err(|error| FileError::damaged(Path::new(RECORD), error.to_string()))?;
    let mut files = BTreeMap::from([
        (PAGE.to_owned(), page::render(board).into_bytes()),
        (RECORD.to_owned(), record),
    ]);
    for (name, table) in tables(board, basis) {
        files.insert(format!("{TABLES}/{name}"), sheet::csv(&table)?);
    }
    Ok(files)
}

/// Every table by its file's name.
fn tables(board: &Leaderboard, basis: WeightBasis) -> BTreeMap<String, TableData> {
    let mut tables = BTreeMap::new();
    for pooled in &board.pooled {
        let of = format!(
            "{}-{}_{}.csv",
            pooled.level_label(),
            pooled.numeric.label(),
            pooled.mode.label()
        );
        let name = |kind: TableKind| format!("{}_{of}", kind.label());
        tables.insert(name(TableKind::Pooled), sheet::pooled::ranks(pooled));
        tables.insert(name(TableKind::ByWindow), sheet::pooled::windows(pooled));
    }
    for kind in TableKind::ALL.into_iter().filter(|kind| !kind.is_pooled()) {
        let shown = if kind.is_per_track() {
            board.tracks.len()
        } else {
            1
        };
        for track in board.tracks.iter().take(shown) {
            let Track {
                window,
                numeric,
                mode,
                ..
            } = track;
            let name = if kind.is_per_track() {
                format!(
                    "{}_{window}_{}-{}_{}.csv",
                    kind.label(),
                    track.level_label(),
                    numeric.label(),
                    mode.label()
                )
            } else {
                format!("{}.csv", kind.label())
            };
            tables.insert(name, sheet::table(board, kind, track, basis));
        }
    }
    tables
}

/// Removes tables of an earlier board, which beside this one would look like its own.
fn remove_other_tables(tables: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), BoardError> {
    for path in list(tables)? {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_table = |kind: &TableKind| {
            let stem = name.strip_suffix(".csv");
            let rest = stem.and_then(|stem| stem.strip_prefix(kind.label()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        if TableKind::ALL.iter().any(is_table) && !files.contains_key(&format!("{TABLES}/{name}")) {
            remove_file(&path)?;
        }
    }
    Ok(())
}
