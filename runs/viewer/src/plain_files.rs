//! Files of a bundle that are what they seem: nothing of them leads out of its directory.

use crate::ViewerError;
use ktd_bundle::BundlePaths;
use std::path::{Path, PathBuf};

/// Refuses a bundle one of whose files is a link: what it leads to was not named.
///
/// # Errors
/// [`ViewerError::Input`] naming the file.
pub(crate) fn check(paths: &BundlePaths) -> Result<(), ViewerError> {
    let files = [
        paths.root().to_owned(),
        paths.header(),
        paths.events(),
        paths.exchanges(),
        paths.open_exchanges(),
        paths.summary(),
        paths.private(),
        paths.episode(),
        paths.ledger(),
        paths.private_summary(),
    ];
    check_all(&files)
}

/// The same of any files.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_all(files: &[PathBuf]) -> Result<(), ViewerError> {
    match files.iter().find(|file| file.is_symlink()) {
        None => Ok(()),
        Some(link) => Err(ViewerError::input(
            format!("{} is a link, and links are not followed", link.display()),
            "replace it with the file itself, or name the directory that it leads to",
        )),
    }
}

/// Whether a directory is one, and no link to one.
pub(crate) fn is_own_directory(path: &Path) -> bool {
    !path.is_symlink() && path.is_dir()
}
