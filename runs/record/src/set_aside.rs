//! Records of which everything was lost, moved out of the way so that their units can be run again.

use crate::RecordError;
use std::path::{Path, PathBuf};

/// Stands between a record's name and the number of the attempt that was lost.
const LOST: &str = ".lost-";

/// Whether a directory of this name was moved out of the way: it is no record of a study any more.
#[must_use]
pub fn is_set_aside(name: &str) -> bool {
    let number = name.rsplit_once(LOST).map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Moves the directory of a record to `NAME.lost-1` beside it, or to the next number that is free; says where it is now.
///
/// # Errors
/// [`RecordError`] when it cannot be moved.
pub fn set_aside(root: &Path) -> Result<PathBuf, RecordError> {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let place = |number: u32| root.with_file_name(format!("{name}{LOST}{number}"));
    let free = (1..=u32::MAX).map(place).find(|place| !exists(place));
    let target = free.unwrap_or_else(|| place(0));
    std::fs::rename(root, &target).map_err(RecordError::io("move", root))?;
    Ok(target)
}
/// Whether anything stands there, be it a link to nowhere.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_free_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        for number in 1..=2 {
            let root = folder.path().join("a__s1");
            std::fs::create_dir(&root).unwrap();
            let moved = set_aside(&root).unwrap();
            assert_eq!(moved, folder.path().join(format!("a__s1.lost-{number}")));
            assert!(moved.is_dir() && !root.exists());
        }
        assert!(set_aside(&folder.path().join("a__s1")).is_err());
    }

    #[test]
    fn only_a_number_marks_a_directory() {
        for (name, is_aside) in [
            ("a__s1.lost-1", true),
            ("a__s1.lost-12", true),
            ("a__s1", false),
            ("a.lost-x__s1", false),
            ("a.lost-", false),
        ] {
            assert_eq!(is_set_aside(name), is_aside, "{name}");
        }
    }
}
