//! SHA-256, and bytes as text.

use crate::FileError;
use crate::whole_file::open_regular;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// SHA-256 in lower-case hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a regular file, which is not held.
///
/// # Errors
/// [`FileError::NotRegular`], [`FileError::Io`].
pub fn sha256_file(path: &Path) -> Result<String, FileError> {
    sha256_file_after(&[], path)
}

/// SHA-256 of some bytes with those of a regular file after them.
///
/// # Errors
/// As [`sha256_file`].
pub fn sha256_file_after(before: &[u8], path: &Path) -> Result<String, FileError> {
    let mut file = BufReader::with_capacity(1 << 16, open_regular(path)?);
    let mut hash = Sha256::new_with_prefix(before);
    loop {
        let part = file.fill_buf().map_err(FileError::io("read", path))?;
        if part.is_empty() {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(part);
        let read = part.len();
        file.consume(read);
    }
}

/// Bytes in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0F)])
        .collect()
}
