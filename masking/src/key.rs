//! The secret behind an alias map.

use ktd_env::KeyedStream;
use sha2::{Digest, Sha256};
use std::fmt;

/// A 32-byte secret. A published seed must not publish the alias map, so the map hangs on this key alone.
///
/// The experiment's key is drawn once; each episode's is derived from it. `Debug` is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct MaskKey([u8; KEY_LEN]);

const KEY_LEN: usize = 32;

/// A text that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a mask key is 64 hexadecimal digits")]
pub struct MaskKeyError;

impl MaskKey {
    /// A key from entropy the caller drew.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; KEY_LEN]) -> Self {
        Self(bytes)
    }

    /// Reads 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`MaskKeyError`] for anything else.
    pub fn parse(text: &str) -> Result<Self, MaskKeyError> {
        let text = text.trim();
        if text.len() != KEY_LEN * 2 || !text.is_ascii() {
            return Err(MaskKeyError);
        }
        let mut bytes = [0; KEY_LEN];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| MaskKeyError)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| MaskKeyError)?;
        }
        Ok(Self(bytes))
    }

    /// The key of one episode.
    #[must_use]
    pub fn derive(&self, episode: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"ktd episode mask key 1\0");
        hasher.update(self.0);
        hasher.update(episode.as_bytes());
        Self(hasher.finalize().into())
    }

    /// What a header publishes: binds the key without telling it.
    #[must_use]
    pub fn commitment(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(b"ktd mask commitment 1\0");
        hasher.update(self.0);
        hex(&hasher.finalize())
    }

    /// The key itself, for `private/` only.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex(&self.0)
    }

    /// The stream of a public seed for a purpose, which nobody repeats without the key.
    #[must_use]
    pub fn stream(&self, seed: u64, purpose: &str) -> KeyedStream {
        let mut hasher = Sha256::new();
        hasher.update(b"ktd keyed draws 1\0");
        hasher.update(self.0);
        hasher.update(seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        KeyedStream::new(hasher.finalize().into())
    }

    /// The stream that the aliases of an episode are drawn with under its own key: those of stocks, then those of sectors.
    #[must_use]
    pub fn alias_stream(&self) -> KeyedStream {
        KeyedStream::new(self.0)
    }
}

/// Lower-case hexadecimal digits of bytes.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().map_or('0', char::from);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

impl fmt::Debug for MaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MaskKey(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_and_stay_out_of_debug_text() {
        let key = MaskKey::from_bytes([0xab; 32]);
        assert_eq!(MaskKey::parse(&key.reveal()).as_ref(), Ok(&key));
        assert!(!format!("{key:?}").contains("ab"));
        assert_ne!(key.derive("a").reveal(), key.derive("b").reveal());
        assert_ne!(key.commitment(), key.derive("a").commitment());
    }

    #[test]
    fn other_texts_are_no_keys() {
        for text in ["", "ab", &"g".repeat(64), &"a".repeat(63), &"ä".repeat(32)] {
            assert!(MaskKey::parse(text).is_err(), "{text}");
        }
    }
}
