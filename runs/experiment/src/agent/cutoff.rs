//! The training cutoff that an agent names.

use ktd_env::{DateError, TradeDate};

/// The last day that a model's training data reach, as its maker states it. Boards part windows by it; no prompt has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrainingCutoff(TradeDate);

impl TrainingCutoff {
    /// Reads `2025-01-31`.
    ///
    /// # Errors
    /// [`DateError`] for what is no day of the calendar.
    pub fn parse(text: &str) -> Result<Self, DateError> {
        TradeDate::parse(text).map(Self)
    }

    /// The day.
    #[must_use]
    pub const fn day(self) -> TradeDate {
        self.0
    }

    /// It as files write it, `2025-01-31`.
    #[must_use]
    pub fn text(self) -> String {
        self.0.reveal()
    }
}
