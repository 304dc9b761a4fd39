//! Knows the index: its level and returns name the day.

use super::cross_section::day_clues;
use super::{DatabaseAttacker, Reading};
use crate::clue::{Bounds, Clues, DayClue};
use crate::column::DayColumn;
use crate::tolerance;

pub(crate) struct IndexPath;

impl DatabaseAttacker for IndexPath {
    fn name(&self) -> &'static str {
        "index-path"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        let mut clues = day_clues(reading, DayColumn::is_of_index);
        clues.days.extend(nav_path(reading));
        clues
    }
}

/// Tracking error of an account of some stocks against the index over an episode.
const TRACKING: f64 = 0.03;

/// The account's NAV, which goes with the market as far as it is invested: since the first step with a holding.
fn nav_path(reading: &Reading<'_>) -> Vec<DayClue> {
    let steps = reading.parsed.steps.iter();
    let held: Vec<(i64, f64, f64, f64)> = steps
        .filter_map(|step| {
            let account = step.account?;
            let error = tolerance::nav(reading.numeric, &account);
            Some((step.offset, libm::log(account.nav), account.invested()?, error))
        })
        .collect();
    let Some((first, rest)) = held.split_first() else {
        return Vec::new();
    };
    rest.iter()
        .map(|(at, nav, _, error)| DayClue {
            column: DayColumn::LnIndex,
            at: *at,
            minus: Some(first.0),
            bounds: Bounds::around((nav - first.1) / first.2, (error + first.3 + TRACKING) / first.2),
        })
        .collect()
}
