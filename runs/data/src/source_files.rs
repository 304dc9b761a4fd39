//! The files that sources name: a file, a folder of files, or a pattern such as `daily/*.csv`.

use super::qlib_bins::is_qlib_directory;
use crate::DataFileError;
use std::path::{Path, PathBuf};

/// Endings of files that a folder and the folders in it are read for; all else is passed over.
const ENDINGS: [&str; 3] = [".csv", ".csv.gz", ".parquet"];

/// The files of all sources, those of a folder or pattern by name.
///
/// # Errors
/// [`DataFileError`] for a folder that cannot be read, and for a folder or pattern without a file.
pub(super) fn files_of(sources: &[PathBuf]) -> Result<Vec<PathBuf>, DataFileError> {
    let mut files = Vec::new();
    for source in sources {
        let pattern = source.file_name().and_then(|name| name.to_str());
        let pattern = pattern.filter(|name| name.contains('*') && !source.exists());
        let found = match pattern {
            Some(pattern) => {
                let folder = source.parent().filter(|folder| !folder.as_os_str().is_empty());
                matching(folder.unwrap_or(Path::new(".")), pattern)?
            }
            None if source.is_dir() && !is_qlib_directory(source) => below(source)?,
            None => vec![source.clone()],
        };
        if found.is_empty() {
            return Err(DataFileError::input(
                format_args!(
                    "{} has no file to read, and is not one of Qlib's directories",
                    source.display()
                ),
                "name files that end in .csv, .csv.gz or .parquet; a Qlib directory has calendars/, instruments/ and features/ in it",
            ));
        }
        files.extend(found);
    }
    Ok(files)
}

/// The files of a folder and of the folders in it. Of a folder that is linked the link is not followed, as it may lead back.
fn below(folder: &Path) -> Result<Vec<PathBuf>, DataFileError> {
    let mut found = Vec::new();
    for path in visible_in(folder)? {
        if path.is_dir() && !path.is_symlink() {
            if is_qlib_directory(&path) {
                found.push(path);
            } else {
                found.extend(below(&path)?);
            }
        } else if path.is_file() && ENDINGS.iter().any(|ending| name_of(&path).ends_with(ending)) {
            found.push(path);
        }
    }
    Ok(found)
}

fn matching(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, DataFileError> {
    let mut found = visible_in(folder)?;
    found.retain(|path| matches(pattern, name_of(path)) && path.is_file());
    Ok(found)
}

/// What lies in a folder, by name, without what is hidden.
fn visible_in(folder: &Path) -> Result<Vec<PathBuf>, DataFileError> {
    let entries = std::fs::read_dir(folder).map_err(DataFileError::io("read", folder))?;
    let mut found = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(DataFileError::io("read", folder))?;
    found.retain(|path| !matches!(name_of(path).chars().next(), None | Some('.')));
    found.sort_unstable();
    Ok(found)
}

/// The name of a file; nothing where it is no text.
fn name_of(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// Whether a name is of a pattern, whose stars stand for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len())
                .filter_map(|from| name.get(from..))
                .any(|name| matches(rest, name))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_are_their_files() {
        let directory = tempfile::tempdir().unwrap();
        let names = |source: &str| {
            let files = files_of(&[directory.path().join(source)])?;
            let name = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
            Ok::<_, DataFileError>(files.iter().map(name).collect::<Vec<_>>().join(" "))
        };
        assert!(names("").unwrap_err().to_string().contains("no file to read"));
        for name in ["b.csv", "a.csv.gz", "c.parquet", "notes.txt", ".hidden.csv"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        assert_eq!(names("").unwrap(), "a.csv.gz b.csv c.parquet");
        assert_eq!(names("*.csv*").unwrap(), "a.csv.gz b.csv");
        assert_eq!(names("n*s.t*t").unwrap(), "notes.txt");
        assert_eq!(names("absent.csv").unwrap(), "absent.csv");
        for folder in ["bars/sz", "bars/.old", "bars/sh/2024", "bars/own/features"] {
            std::fs::create_dir_all(directory.path().join(folder)).unwrap();
            std::fs::write(directory.path().join(folder).join("d.csv"), "").unwrap();
        }
        for folder in ["bars/own/calendars", "bars/own/instruments"] {
            std::fs::create_dir_all(directory.path().join(folder)).unwrap();
        }
        std::fs::write(directory.path().join("bars/sh/e.csv"), "").unwrap();
        assert_eq!(names("bars").unwrap(), "own d.csv e.csv d.csv");
        assert!(names("*.xls").is_err());
    }
}
