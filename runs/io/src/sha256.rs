//! SHA-256 as text.

use sha2::{Digest, Sha256};

/// SHA-256 in lower-case hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or_default();
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    digest
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0F)])
        .collect()
}
