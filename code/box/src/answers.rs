//! Answers that lie where a job could read them.

use crate::error::BoxError;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use ktd_io::parallel::{available_threads, in_parallel};
use ktd_io::whole_file::{list, open_regular};
use std::path::{Path, PathBuf};

/// The first file, by its path, below one of these files and folders that holds one of the answers. What is shown may be a link itself;
/// a link within is looked at where it leads to, if that is shown. What is compressed is not opened.
///
/// # Errors
/// Where a folder cannot be listed or a file cannot be read.
pub(crate) fn file_with_an_answer(
    shown: &[PathBuf],
    answers: &[String],
) -> Result<Option<PathBuf>, BoxError> {
    if answers.is_empty() {
        return Ok(None);
    }
    // The automaton with the fastest step: hundreds of megabytes are read.
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(answers)
        .map_err(BoxError::invalid)?;
    let mut files = Vec::new();
    for place in shown {
        let place = std::fs::canonicalize(place).map_err(BoxError::io("read", place))?;
        add_files(&place, &mut files)?;
    }
    let held = in_parallel(&files, available_threads(), |file| holds(&automaton, file));
    for (file, holds) in files.into_iter().zip(held) {
        if holds? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn add_files(place: &Path, files: &mut Vec<PathBuf>) -> Result<(), BoxError> {
    let kind = std::fs::symlink_metadata(place).map_err(BoxError::io("read", place))?;
    if kind.is_dir() {
        for entry in list(place)? {
            add_files(&entry, files)?;
        }
    } else if kind.is_file() {
        files.push(place.to_owned());
    }
    Ok(())
}

fn holds(automaton: &AhoCorasick, file: &Path) -> Result<bool, BoxError> {
    let first = automaton.stream_find_iter(open_regular(file)?).next();
    Ok(first.transpose().map_err(BoxError::io("read", file))?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_wherever_it_lies_and_a_link_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let (shown, hidden) = (root.path().join("shown"), root.path().join("hidden"));
        std::fs::create_dir_all(shown.join("a/b")).unwrap();
        std::fs::create_dir_all(&hidden).unwrap();
        let answers = ["y = c / c.shift(10) - 1".to_owned(), "m-ema(m,9)".to_owned()];
        let found = || file_with_an_answer(&[shown.clone(), shown.join("none")], &answers);
        assert!(found().is_err(), "a place that is not there");
        let found = || file_with_an_answer(std::slice::from_ref(&shown), &answers).unwrap();
        std::fs::write(hidden.join("tasks"), "m = ema(C,12); m-ema(m,9)").unwrap();
        std::os::unix::fs::symlink(hidden.join("tasks"), shown.join("link")).unwrap();
        std::fs::write(shown.join("clean"), "m-ema(m,8)").unwrap();
        assert_eq!(found(), None);
        // Across any border of the parts in which a file is read.
        let mut bytes = vec![0; 65_530];
        bytes.extend_from_slice(b"    y = c / c.shift(10) - 1\n");
        std::fs::write(shown.join("a/b/program"), bytes).unwrap();
        let program = std::fs::canonicalize(shown.join("a/b/program")).unwrap();
        assert_eq!(found(), Some(program.clone()));
        let link = root.path().join("environment");
        std::os::unix::fs::symlink(&shown, &link).unwrap();
        assert_eq!(file_with_an_answer(&[link], &answers).unwrap(), Some(program));
    }
}
