//! The mask key of an experiment.

use crate::BundleError;
use ktd_io::whole_file::{Durability, IfExists, create_private, read_input, read_text, write_file};
use ktd_masking::MaskKey;
use std::path::{Path, PathBuf};

/// The most that a file of a key may hold, bytes.
const KEY_LIMIT_BYTES: u64 = 4 << 10;

/// A mask key: of the file `given`, else the one at `kept`, which is drawn from the system's entropy where there is none.
///
/// # Errors
/// [`BundleError`] when a file cannot be read or holds no key.
pub fn mask_key(given: Option<PathBuf>, kept: &Path) -> Result<MaskKey, BundleError> {
    let (source, text) = match given {
        Some(given) => {
            let text = read_input(&given)?;
            (given, text)
        }
        None if !kept.exists() => return draw_key(kept),
        None => (kept.to_owned(), read_text(kept, KEY_LIMIT_BYTES)?),
    };
    MaskKey::parse(&text).map_err(|error| {
        let what = format!("{}: {error}", source.display());
        BundleError::input(
            what,
            "name a file with such a key, or leave `mask_key_file` out to have one drawn",
        )
    })
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
    let kept = read_text(path, KEY_LIMIT_BYTES)?;
    MaskKey::parse(&kept).map_err(|error| BundleError::damaged(path, error.to_string()))
}
