//! What the database's attackers know of an exhibit before they read a number in it.

use crate::column::DayColumn;
use crate::database::Database;
use crate::parsed_exhibit::ParsedExhibit;
use crate::scan::place_of;

/// Background of an exhibit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Background {
    /// What each day of the calendar costs as the last as-of day; empty where no episode is more likely than another.
    pub(crate) prior: Vec<f32>,
    /// Places in the database of the stocks that are given away, in the order of the exhibit.
    pub(crate) known: Vec<Option<usize>>,
    /// The fewest members of any day that could be: so many are listed on every day where rosters are equally large.
    pub(crate) fewest_members: usize,
    /// Stocks of the panel.
    pub(crate) stocks: usize,
    /// Cash of an account before it trades, in yuan.
    pub(crate) cash: f64,
}

/// Cost of a day on which no episode that the prior knows can end.
const IMPOSSIBLE: f32 = 60.0;

impl Background {
    pub(crate) fn of(database: &Database, parsed: &ParsedExhibit, has_prior: bool) -> Self {
        let prior = if has_prior {
            prior(&database.episodes.of_last_day(parsed.steps.len()))
        } else {
            Vec::new()
        };
        Self {
            prior,
            known: parsed.known().map(|(_, code)| place_of(database, code)).collect(),
            fewest_members: fewest(database.day_column(DayColumn::Members)),
            stocks: database.boards.len(),
            cash: database.cash,
        }
    }
}

/// The least count of a column, which days without one do not have.
fn fewest(counts: &[f32]) -> usize {
    let least = counts.iter().copied().fold(f32::INFINITY, f32::min);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of members"
    )]
    let fewest = least as usize;
    if least.is_finite() { fewest } else { 0 }
}

/// Twice the negative logarithm of each share against the largest.
fn prior(shares: &[f64]) -> Vec<f32> {
    let most = shares.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return Vec::new();
    }
    let cost = |share: &f64| {
        if *share <= 0.0 {
            return IMPOSSIBLE;
        }
        #[expect(clippy::cast_possible_truncation, reason = "costs are of order ten")]
        let cost = (-2.0 * libm::log(share / most)) as f32;
        cost.min(IMPOSSIBLE)
    };
    shares.iter().map(cost).collect()
}
