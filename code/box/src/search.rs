//! Programs on the path, and whether another user may read what lies in a folder.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const READ: u32 = 0o4;
const EXECUTE: u32 = 0o1;

/// Every program of a name, in the order of the path.
pub(crate) fn programs(name: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.filter(|place| is_program(place)).collect()
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

/// The first folder or file on the way to a path that a user may not enter or read; none where all is open.
pub(crate) fn closed_to(user: u32, path: &Path) -> Option<PathBuf> {
    let Ok(whole) = std::fs::canonicalize(path) else {
        return Some(path.to_owned());
    };
    let ways: Vec<&Path> = whole.ancestors().collect();
    let closed = ways.into_iter().rev().find(|way| {
        let needed = if **way == *whole && !way.is_dir() {
            READ
        } else {
            EXECUTE
        };
        !allows(user, way, needed)
    });
    closed.map(Path::to_owned)
}

/// What a user that is in no group of the file may do with it.
fn allows(user: u32, path: &Path, needed: u32) -> bool {
    std::fs::metadata(path).is_ok_and(|found| {
        let bits = if found.uid() == user {
            found.mode() >> 6
        } else {
            found.mode()
        };
        user == 0 || bits & needed == needed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_closed_folder_on_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let file = inner.join("file");
        std::fs::write(&file, b"x").unwrap();
        let set = |path: &Path, mode: u32| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(folder.path(), 0o755);
        set(&inner, 0o755);
        set(&file, 0o644);
        let nobody = 65_534;
        assert_eq!(closed_to(nobody, &file), None);
        set(&file, 0o600);
        assert_eq!(closed_to(nobody, &file), Some(file.canonicalize().unwrap()));
        set(&file, 0o644);
        set(&inner, 0o700);
        assert_eq!(closed_to(nobody, &file), Some(inner.canonicalize().unwrap()));
        let owner = std::fs::metadata(&inner).unwrap().uid();
        assert_eq!(closed_to(owner, &file), None);
        assert_eq!(closed_to(0, &inner.join("absent")), Some(inner.join("absent")));
    }

    #[test]
    fn programs_are_found_on_the_path_alone() {
        assert!(!programs("sh").is_empty());
        assert!(programs("no-such-program-of-anybody").is_empty());
    }
}
