//! Folders of a test's own, and what lies in a folder.

use crate::program::ktd;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// A folder of a test's own, gone with the value.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    /// An empty folder.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it makes a folder on the disk")]
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with these files, each a name and its text.
    #[must_use]
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a name in it.
    #[must_use]
    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, and the folders that it lies in.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// The bytes of a file.
    #[must_use]
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.at(name)).unwrap()
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }

    /// Every file below it.
    #[must_use]
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files(self.path())
    }

    /// What `ktd ARGUMENTS` does here.
    #[must_use]
    pub fn ktd(&self, arguments: &[&str]) -> Output {
        ktd(self.path(), arguments)
    }
}

/// The bytes of every file below a folder, by its path in it.
#[must_use]
pub fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path.strip_prefix(root).unwrap().to_owned(), bytes);
            }
        }
    }
    found
}

/// Copies every file below a folder.
pub fn copy(from: &Path, to: &Path) {
    for (file, bytes) in files(from) {
        let target = to.join(file);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, bytes).unwrap();
    }
}

/// A pipe with a name, which nobody writes: opening it for reading waits for ever.
#[cfg(unix)]
pub fn named_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success(), "no pipe at {}", path.display());
}

/// A link to a device that can be read without end.
#[cfg(unix)]
pub fn endless_file(path: &Path) {
    std::os::unix::fs::symlink("/dev/zero", path).unwrap();
}

/// The shipped files, in `runs/configs` of a folder of their own, beside the score file that one of them names.
#[must_use]
pub fn shipped_configs() -> Folder {
    let folder = Folder::with(&[("results/linear.csv", "date,code,score\n")]);
    copy(
        &crate::workspace_root().join("runs/configs"),
        &folder.at("runs/configs"),
    );
    folder
}
