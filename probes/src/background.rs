//! What the database's attackers know of an exhibit before they read a number in it.

use crate::column::DayColumn;
use crate::database::Database;
use crate::parsed_exhibit::ParsedExhibit;
use crate::scan::place_of;

/// Background of an exhibit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Background {
    /// Places in the database of the stocks that are given away, in the order of the exhibit.
    pub(crate) known: Vec<Option<usize>>,
    /// The fewest members of any day that could be: so many are listed on every day where rosters are equally large.
    pub(crate) fewest_members: usize,
    /// Stocks of the panel.
    pub(crate) stocks: usize,
    /// Cash of an account before it trades, in yuan.
    pub(crate) cash: f64,
}

impl Background {
    pub(crate) fn of(database: &Database, parsed: &ParsedExhibit) -> Self {
        Self {
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
