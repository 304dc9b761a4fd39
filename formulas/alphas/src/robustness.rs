//! Robustness: how much of its order an alpha keeps when its inputs are perturbed.

use crate::daily_ranks::DailyRanks;
use crate::day_table::{DayTable, MemberTable};
use ktd_stats::Undefined;

/// The mean daily rank correlation of an alpha with itself on perturbed columns (PFS): one draw.
///
/// # Errors
/// [`Undefined::TooFewDays`] where no day counts, as of a constant.
pub fn rank_robustness(
    scores: &DayTable,
    perturbed: &DayTable,
    members: &MemberTable,
    days: &[usize],
    min_names: usize,
) -> Result<f64, Undefined> {
    DailyRanks::of(scores, members).robustness(perturbed, days, min_names)
}

/// The mean daily rank correlation of two formulas; none where no day counts.
#[must_use]
pub fn mean_rank_correlation(
    left: &DayTable,
    right: &DayTable,
    members: &MemberTable,
    days: &[usize],
    min_names: usize,
) -> Option<f64> {
    rank_robustness(left, right, members, days, min_names).ok()
}
