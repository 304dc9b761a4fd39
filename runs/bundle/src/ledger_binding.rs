//! What binds the private ledger to the public events.

use ktd_io::FileError;
use ktd_io::sha256::{sha256_file_after, sha256_hex};
use ktd_masking::MaskKey;
use std::path::Path;

/// A hash that binds a text of the ledger without revealing it: nobody without the key can try out candidates.
#[must_use]
pub fn ledger_binding(key: &MaskKey, text: &str) -> String {
    sha256_hex(format!("{}{text}", prefix(key)).as_bytes())
}

/// The same of the whole ledger, which is not held.
pub(crate) fn file_binding(key: &MaskKey, path: &Path) -> Result<String, FileError> {
    sha256_file_after(prefix(key).as_bytes(), path)
}

fn prefix(key: &MaskKey) -> String {
    format!("{}\n", key.reveal())
}
