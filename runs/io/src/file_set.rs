//! Files that belong together and are replaced together.

use crate::FileError;
use crate::whole_file::{
    Durability, IfExists, check_writable, new_file, open_regular, remove_if_exists, rename, temporary_name,
    write_new,
};
use std::path::{Path, PathBuf};

/// Copies a whole file or nothing, without holding it; what has the name is replaced.
///
/// # Errors
/// [`FileError::NotRegular`], [`FileError::Io`]; the old content stands then.
pub fn copy_whole(from: &Path, to: &Path) -> Result<(), FileError> {
    let mut source = open_regular(from)?;
    let temporary = temporary_name(to, IfExists::Replace);
    let copied = new_file(&temporary).and_then(|mut target| std::io::copy(&mut source, &mut target));
    let written = copied.and_then(|_| std::fs::rename(&temporary, to));
    if written.is_err() {
        std::fs::remove_file(&temporary).ok();
    }
    written.map_err(FileError::io("write", to))
}

/// Replaces files by whole ones, all or none: each is written under a temporary name, and all are renamed when the last
/// is complete.
///
/// # Errors
/// [`FileError`]; no temporary file is left then.
pub fn write_together(files: &[(PathBuf, Vec<u8>)]) -> Result<(), FileError> {
    replace(files, || files.iter().try_for_each(rename_temporary))
}

/// The same of a report, whose first file stands for all: it is taken away, with what is `obsolete`, before another is
/// replaced, and given its name last. Where it stands, all others are of the same report.
///
/// # Errors
/// [`FileError`]; no temporary file is left then.
pub fn replace_report(files: &[(PathBuf, Vec<u8>)], obsolete: &[PathBuf]) -> Result<(), FileError> {
    let Some((first, others)) = files.split_first() else {
        return Ok(());
    };
    // What a killed process left under a temporary name may just have been written again.
    let is_written = |path: &PathBuf| {
        let temporary = |(file, _): &(PathBuf, Vec<u8>)| temporary_name(file, IfExists::Replace) == *path;
        files.iter().any(temporary)
    };
    replace(files, || {
        remove_if_exists(&first.0)?;
        let obsolete = obsolete.iter().filter(|path| !is_written(path));
        obsolete.into_iter().try_for_each(|path| remove_if_exists(path))?;
        others.iter().chain([first]).try_for_each(rename_temporary)
    })
}

/// Writes every file under its temporary name before `put` gives the first its own.
fn replace(
    files: &[(PathBuf, Vec<u8>)],
    put: impl FnOnce() -> Result<(), FileError>,
) -> Result<(), FileError> {
    for (path, _) in files {
        check_writable(path, IfExists::Replace)?;
    }
    let written = files.iter().try_for_each(|(path, bytes)| {
        let temporary = temporary_name(path, IfExists::Replace);
        let written = write_new(&temporary, bytes, Durability::Buffered);
        written.map(drop).map_err(FileError::io("write", path))
    });
    let put = written.and_then(|()| put());
    if put.is_err() {
        for (path, _) in files {
            // What was renamed or never begun is not there; the first error is the one to report.
            std::fs::remove_file(temporary_name(path, IfExists::Replace)).ok();
        }
    }
    put
}

fn rename_temporary((path, _): &(PathBuf, Vec<u8>)) -> Result<(), FileError> {
    rename(&temporary_name(path, IfExists::Replace), path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whole_file::list;

    #[test]
    fn files_that_belong_together_are_written_all_or_none() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str, text: &str| (directory.path().join(name), text.as_bytes().to_vec());
        write_together(&[at("a", "1"), at("b", "1")]).unwrap();
        std::fs::create_dir(directory.path().join("c")).unwrap();
        assert!(write_together(&[at("a", "2"), at("c", "2")]).is_err());
        assert!(write_together(&[at("a", "2"), at("absent/d", "2")]).is_err());
        assert_eq!(std::fs::read(directory.path().join("a")).unwrap(), b"1");
        assert_eq!(list(directory.path()).unwrap().len(), 3);
        write_together(&[at("a", "3"), at("b", "3")]).unwrap();
        assert_eq!(std::fs::read(directory.path().join("b")).unwrap(), b"3");
    }

    #[test]
    fn the_first_file_of_a_report_stands_for_all() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str, text: &str| (directory.path().join(name), text.as_bytes().to_vec());
        let old = [at("main", "1"), at("table", "1"), at("other", "1")];
        replace_report(&old, &[]).unwrap();
        replace_report(
            &[at("main", "2"), at("table", "2")],
            &[directory.path().join("other")],
        )
        .unwrap();
        assert_eq!(list(directory.path()).unwrap().len(), 2);
        // What a kill left of a file that is written again is no obsolete one any more.
        let left = temporary_name(&directory.path().join("table"), IfExists::Replace);
        std::fs::write(&left, "2").unwrap();
        replace_report(&[at("main", "2"), at("table", "2")], &[left]).unwrap();
        assert_eq!(list(directory.path()).unwrap().len(), 2);
        // What is to be removed and cannot be stops it when the first is gone: none stands for a mixture.
        std::fs::create_dir(directory.path().join("folder")).unwrap();
        let obsolete = [directory.path().join("folder")];
        assert!(replace_report(&[at("main", "3"), at("table", "3")], &obsolete).is_err());
        assert!(!directory.path().join("main").exists());
    }
}
