//! The secret of the strict gate: what it draws is known to nobody who writes a function.

use crate::error::FactorCodeError;
use crate::panel::FactorPanels;
use ktd_env::KeyedStream;
use std::fmt;

/// Secret of a run, from which lengths, first days, prices, cuts, changed rows and seeds of the strict gate are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FactorGateSecret([u8; 32]);

impl FactorGateSecret {
    /// A secret from entropy that the caller drew.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A stream of the secret for a purpose of the caller's.
    #[must_use]
    pub fn stream(&self, purpose: &str) -> KeyedStream {
        KeyedStream::of_key(&self.0, purpose)
    }

    /// Panels for one source: each has hidden panels of its own, so that nothing that was told of one reply, such as a day on which
    /// a value changed, helps the next.
    ///
    /// # Errors
    /// None, as a test shows: the calendar has enough weekdays.
    pub fn panels(&self, panels: &FactorPanels, source: &str) -> Result<GatedPanels, FactorCodeError> {
        let mut own = self.stream(&format!("factor-code gate of\n{source}"));
        let mut key = [0; 32];
        for part in key.chunks_mut(8) {
            part.copy_from_slice(&own.next_u64().to_le_bytes());
        }
        Ok(GatedPanels {
            panels: panels.with_hidden(&key)?,
            key,
        })
    }
}

impl fmt::Debug for FactorGateSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FactorGateSecret")
    }
}

/// Panels with hidden ones that a secret drew for one source.
#[derive(Debug, Clone, PartialEq)]
pub struct GatedPanels {
    panels: FactorPanels,
    key: [u8; 32],
}

impl GatedPanels {
    /// The panels.
    #[must_use]
    pub const fn panels(&self) -> &FactorPanels {
        &self.panels
    }

    /// A name for the order of runs, which tells nothing of the key.
    #[must_use]
    pub fn order_key(&self) -> String {
        self.stream("factor-code order of runs").next_u64().to_string()
    }

    pub(crate) fn stream(&self, purpose: &str) -> KeyedStream {
        KeyedStream::of_key(&self.key, purpose)
    }
}
