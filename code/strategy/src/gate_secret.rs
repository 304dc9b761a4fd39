//! The secret of a run: what the gate on look-ahead draws its cuts and futures with, so that nobody who wrote a program knew them.

use ktd_env::KeyedStream;
use sha2::{Digest, Sha256};

/// A secret, as the hash of its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct GateSecret([u8; 32]);

impl GateSecret {
    /// The secret of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The secret for one program: another text is judged by another plan, so that a verdict tells nothing of the next one.
    #[must_use]
    pub fn for_program(&self, source: &str) -> Self {
        Self::of(&[&self.0[..], source.as_bytes()].concat())
    }

    /// Chance for one purpose.
    pub(crate) fn stream(&self, purpose: &str) -> KeyedStream {
        KeyedStream::new(self.for_program(purpose).0)
    }
}

impl std::fmt::Debug for GateSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("GateSecret")
    }
}
