//! The mask key of an experiment.

use crate::BundleError;
use ktd_io::whole_file::{Durability, IfExists, create_private, write_file};
use ktd_masking::MaskKey;
use std::path::{Path, PathBuf};

/// A mask key: of the file `given`, else the one at `kept`, which is drawn from the system's entropy where there is none.
///
/// # Errors
/// [`BundleError`] when a file cannot be read or holds no key.
pub fn mask_key(given: Option<PathBuf>, kept: &Path) -> Result<MaskKey, BundleError> {
    let source = given.unwrap_or_else(|| kept.to_owned());
    match std::fs::read_to_string(&source) {
        Ok(text) => MaskKey::parse(&text).map_err(|error| {
            let what = format!("{}: {error}", source.display());
            BundleError::input(
                what,
                "name a file with such a key, or leave `mask_key_file` out to have one drawn",
            )
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && source == kept => draw_key(kept),
        Err(error) => Err(BundleError::io("read", &source)(error)),
    }
}

fn draw_key(path: &Path) -> Result<MaskKey, BundleError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        BundleError::input(
            format!("the system gives no entropy: {error}"),
            "name a `mask_key_file`",
        )
    })?;
    let key = MaskKey::from_bytes(bytes);
    let directory = path.parent().unwrap_or(path);
    create_private(directory)?;
    let text = format!("{}\n", key.reveal());
    write_file(path, text.as_bytes(), IfExists::Keep, Durability::Buffered)?;
    // Another run of the same experiment may have been first: its key is the experiment's.
    let kept = std::fs::read_to_string(path).map_err(BundleError::io("read", path))?;
    MaskKey::parse(&kept).map_err(|error| BundleError::damaged(path, error.to_string()))
}
