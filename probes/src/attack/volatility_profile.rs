//! Knows how every stock behaves: volatility, skewness, and how price and amount go together.

use super::{DatabaseAttacker, Reading};
use crate::clue::Clues;
use ktd_env::factors::{Factor, Technical};

pub(crate) struct VolatilityProfile;

impl DatabaseAttacker for VolatilityProfile {
    fn name(&self) -> &'static str {
        "volatility-profile"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        let factors = [Factor::Rv60, Factor::Skew, Factor::CorrPv, Factor::CvVol];
        reading.both(|shown| {
            let mut clues = reading.factors(shown, &factors);
            clues.extend(reading.technicals(shown, &[Technical::Volatility20]));
            clues
        })
    }
}
