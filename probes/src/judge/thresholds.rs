//! How far above chance an upper bound may lie.

use crate::Measure;
use ktd_masking::MaskSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Thresholds of a verdict. For each measure that it hangs on: the largest excess of the upper simultaneous bound over what chance
/// recovers, as a share of the probes.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// The first guess is the stock.
    pub top1: f64,
    /// The stock is among five guesses.
    pub top5: f64,
    /// The day is within 20 trading days.
    pub date20: f64,
    /// Stock and day together. The default is the largest joint recovery in KTD-Fin (appendix K).
    pub joint: f64,
    /// Whether two exhibits show the same stock.
    pub same: f64,
    /// The sector.
    pub sector: f64,
}

/// Error of a threshold that is no share.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("`thresholds.{}` is {value}", .measure.label())]
pub struct ThresholdError {
    /// Of which measure.
    pub measure: Measure,
    /// What it is.
    pub value: f64,
}

impl ThresholdError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "it is a share of the probes above chance, 0 to 1"
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            top1: 0.03,
            top5: 0.05,
            date20: 0.05,
            joint: 0.015,
            same: 0.05,
            sector: 0.05,
        }
    }
}

impl Thresholds {
    /// The threshold of a measure; `None` of one that is only reported: the board, which every rung but one shows, and
    /// the two other date bounds.
    #[must_use]
    pub const fn of(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Top1 => Some(self.top1),
            Measure::Top5 => Some(self.top5),
            Measure::Date20 => Some(self.date20),
            Measure::Joint => Some(self.joint),
            Measure::Same => Some(self.same),
            Measure::Sector => Some(self.sector),
            Measure::Date5 | Measure::Date60 | Measure::Board => None,
        }
    }

    /// Whether every threshold is a share.
    ///
    /// # Errors
    /// [`ThresholdError`] naming the one that is not.
    pub fn check(&self) -> Result<(), ThresholdError> {
        for measure in Measure::ALL {
            if let Some(value) = self.of(measure).filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(ThresholdError { measure, value });
            }
        }
        Ok(())
    }
}

/// Whether a mask shows openly what a measure asks for, so that recovering it proves nothing. What it shows half of (stock
/// and day together) is that half, which is measured apart.
#[must_use]
pub fn shows(mask: MaskSettings, measure: Measure) -> bool {
    let level = mask.level;
    match measure {
        Measure::Top1 | Measure::Top5 | Measure::Sector | Measure::Same => !level.hides_stocks(),
        Measure::Date5 | Measure::Date20 | Measure::Date60 => !level.hides_days(),
        Measure::Joint => !level.hides_stocks() || !level.hides_days(),
        Measure::Board => !level.hides_stocks() || mask.numeric.shows_boards(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_masking::{Level, Numeric};

    #[test]
    fn what_is_shown_is_not_asked() {
        let shows = |level, measure| {
            let numeric = Numeric::Exact;
            super::shows(MaskSettings { level, numeric }, measure)
        };
        for measure in Measure::ALL {
            assert!(shows(Level::Bright, measure));
            assert_eq!(shows(Level::Blinded, measure), measure == Measure::Board);
            let banded = MaskSettings {
                level: Level::Blinded,
                numeric: Numeric::Banded,
            };
            assert!(!super::shows(banded, measure));
        }
        assert!(shows(Level::StockBlind, Measure::Joint) && !shows(Level::StockBlind, Measure::Top5));
        assert!(shows(Level::DateBlind, Measure::Joint) && !shows(Level::DateBlind, Measure::Date20));
    }
}
