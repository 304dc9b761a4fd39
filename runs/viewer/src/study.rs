//! A study in a list, and the files of its units.

use crate::ViewerError;
use crate::plain_files::is_own_directory;
use ktd_io::whole_file::{list, read_text};
use ktd_study::StudyOutline;
use std::path::{Path, PathBuf};

/// The most of a file that is shown.
const SHOWN_BYTES: u64 = 1 << 20;

/// A study in a list.
#[derive(Debug, Clone)]
pub struct StudyEntry {
    /// Its name in addresses.
    pub slug: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Whether its units are episodes.
    pub is_experiment: bool,
}

/// File of a unit.
#[derive(Debug)]
pub(crate) struct UnitFile {
    /// Its place below the unit.
    pub(crate) name: String,
    /// What it holds; none of one that is packed or too large.
    pub(crate) text: Option<String>,
}

impl StudyEntry {
    /// What it is and how far: read when it is asked for, because pages of other things need it not.
    pub(crate) fn outline(&self) -> Result<StudyOutline, ViewerError> {
        StudyOutline::read(&self.folder).map_err(|error| ViewerError::invalid(&error))
    }
}

/// The files of a unit's folder, without what is its owner's; links are not followed.
pub(crate) fn unit_files(folder: &Path) -> Result<Vec<UnitFile>, ViewerError> {
    let mut files = Vec::new();
    if is_own_directory(folder) {
        add_files(folder, "", &mut files)?;
    }
    Ok(files)
}

fn add_files(folder: &Path, place: &str, files: &mut Vec<UnitFile>) -> Result<(), ViewerError> {
    for path in list(folder)? {
        let own = path.file_name().unwrap_or_default().to_string_lossy();
        if own == "private" || own.starts_with('.') || path.is_symlink() {
            continue;
        }
        let name = format!("{place}{own}");
        if path.is_dir() {
            add_files(&path, &format!("{name}/"), files)?;
        } else {
            // What is no text of some size says so on the page.
            let text = read_text(&path, SHOWN_BYTES).ok();
            files.push(UnitFile { name, text });
        }
    }
    Ok(())
}
