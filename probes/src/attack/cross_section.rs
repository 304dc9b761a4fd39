//! Knows breadth, dispersion and the boards' returns of every day: the cross-section's fingerprint names the day.

use super::{DatabaseAttacker, Reading};
use crate::clue::{Bounds, Clues, DayClue};
use crate::column::DayColumn;
use crate::tolerance;
use ktd_masking::Numeric;

pub(crate) struct CrossSection;

impl DatabaseAttacker for CrossSection {
    fn name(&self) -> &'static str {
        "cross-section"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        day_clues(reading, |column| !column.is_of_index())
    }
}

/// Clues about the day from what the market context tells of some columns.
pub(super) fn day_clues(reading: &Reading<'_>, is_wanted: impl Fn(DayColumn) -> bool) -> Clues {
    let read = reading.parsed.steps.iter().flat_map(|step| {
        let market = step.market.iter();
        market.map(|(column, value)| (step.offset, *column, *value))
    });
    let days = read
        .filter(|(_, column, _)| is_wanted(*column))
        .filter_map(|(at, column, value)| {
            Some(DayClue {
                column,
                at,
                minus: None,
                bounds: Bounds::around(value, day_tolerance(reading.numeric, column)?),
            })
        })
        .collect();
    Clues {
        days,
        ..Clues::default()
    }
}

/// `None` for what says nothing as it is shown: points of an index whose base is hidden.
fn day_tolerance(numeric: Numeric, column: DayColumn) -> Option<f64> {
    match column {
        DayColumn::IndexLevel => (numeric == Numeric::Exact).then_some(0.005),
        DayColumn::IndexReturn1d
        | DayColumn::IndexReturn5d
        | DayColumn::IndexReturn20d
        | DayColumn::IndexReturn60d
        | DayColumn::IndexVolatility
        | DayColumn::IndexDrawdown
        | DayColumn::Dispersion
        | DayColumn::BoardReturn1d(_)
        | DayColumn::BoardReturn20d(_) => Some(tolerance::fraction(numeric)),
        DayColumn::BoardShareUp(_) => Some(tolerance::share(numeric)),
        DayColumn::Members
        | DayColumn::Advancers
        | DayColumn::Decliners
        | DayColumn::Unchanged
        | DayColumn::AtLimitUp
        | DayColumn::AtLimitDown
        | DayColumn::Suspended
        | DayColumn::Gap
        | DayColumn::Place
        | DayColumn::LnIndex
        | DayColumn::Listed
        | DayColumn::MovesOfThree(_)
        | DayColumn::MovesOfFive(_)
        | DayColumn::BoardMembers(_)
        | DayColumn::BoardRank1d(_)
        | DayColumn::BoardRank20d(_) => Some(COUNTED),
    }
}

/// Counts are whole.
const COUNTED: f64 = 0.4;
