//! Knows how much of every stock is traded: shares, and the liquidity that follows from them.

use super::senses::ParsedSnapshot;
use super::{DatabaseAttacker, Reading};
use crate::clue::{Bounds, Clue, Clues};
use crate::column::Column;
use crate::tolerance;
use ktd_env::factors::{Factor, Technical};
use ktd_masking::Numeric;

pub(crate) struct VolumeLevel;

impl DatabaseAttacker for VolumeLevel {
    fn name(&self) -> &'static str {
        "volume-level"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        reading.both(|shown| {
            let mut clues = reading.factors(shown, &[Factor::Illiq]);
            clues.extend(reading.technicals(shown, &[Technical::AmountRatio5To20]));
            for snapshot in shown {
                clues.extend(shares(reading.numeric, snapshot));
                clues.extend(changes(reading.numeric, snapshot));
            }
            clues
        })
    }
}

/// Half of the last of four significant digits.
const FOUR_DIGITS: f64 = 5e-4;

/// The shares traded on the last day shown, in thousands.
fn shares(numeric: Numeric, snapshot: &ParsedSnapshot<'_>) -> Option<Clue> {
    let bar = snapshot.stock.bars.last().filter(|_| numeric == Numeric::Exact)?;
    let thousands = bar.volume.filter(|volume| *volume > 0.0)?;
    Some(Clue {
        column: Column::LnShares,
        at: snapshot.offset - bar.days_ago,
        minus: None,
        bounds: Bounds::around(libm::log(thousands * 1000.0), FOUR_DIGITS),
    })
}

/// Volumes of two neighbouring days, whatever their unit.
fn changes(numeric: Numeric, snapshot: &ParsedSnapshot<'_>) -> Vec<Clue> {
    let tolerance = |volume: f64| match numeric {
        Numeric::Exact => FOUR_DIGITS,
        Numeric::Rescaled
        | Numeric::RoundedTenth
        | Numeric::RoundedHalf
        | Numeric::Ranked
        | Numeric::BandedFive
        | Numeric::Banded => tolerance::volume_ratio(numeric) / volume,
    };
    let bars = &snapshot.stock.bars;
    let pairs = bars.iter().zip(bars.iter().skip(1));
    pairs
        .filter_map(|(before, bar)| {
            let (earlier, later) = (before.volume?, bar.volume?);
            (earlier > 0.0 && later > 0.0).then(|| Clue {
                column: Column::LnVolume,
                at: snapshot.offset - bar.days_ago,
                minus: Some(snapshot.offset - before.days_ago),
                bounds: Bounds::around(
                    libm::log(later) - libm::log(earlier),
                    tolerance(later) + tolerance(earlier),
                ),
            })
        })
        .collect()
}
