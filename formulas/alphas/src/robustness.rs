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
