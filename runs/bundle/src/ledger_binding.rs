//! What binds the private ledger to the public events.

use ktd_io::sha256::sha256_hex;
use ktd_masking::MaskKey;

/// A hash that binds a text of the ledger without revealing it: nobody without the key can try out candidates.
#[must_use]
pub fn ledger_binding(key: &MaskKey, text: &str) -> String {
    sha256_hex(format!("{}\n{text}", key.reveal()).as_bytes())
}
