//! What a reader may know of who signed a published bundle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The digits of a fingerprint that are shown where there is no room for all 64.
pub const FINGERPRINT_DIGITS: usize = 8;

/// Signer of a published bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignerMark {
    /// SHA-256 of the signer's public key as DER; none where nobody signed.
    pub fingerprint: Option<String>,
    /// Whether the reader named this key. Without it the signature proves that one key signed all, not whose it is.
    pub is_named: bool,
}

impl fmt::Display for SignerMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        let Some(fingerprint) = &self.fingerprint else {
            return f.write_str("unsigned");
        };
        f.write_str(fingerprint.get(..SHOWN).unwrap_or(fingerprint))?;
        f.write_str(if self.is_named { "" } else { " (not checked)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signer_whose_key_nobody_named_says_so() {
        let mark = |is_named| SignerMark {
            fingerprint: Some("0123456789abcdef".repeat(4)),
            is_named,
        };
        assert_eq!(SignerMark::default().to_string(), "unsigned");
        assert_eq!(mark(true).to_string(), "0123456789abcdef");
        assert_eq!(mark(false).to_string(), "0123456789abcdef (not checked)");
    }
}
