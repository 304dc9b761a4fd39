//! Robustness: how much of its order an alpha keeps when its inputs are perturbed.

use crate::day_table::{DayTable, MemberTable};
use crate::predictive::daily_correlations;
use ktd_stats::Undefined;
use ktd_stats::moments::mean;

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
    let correlations = daily_correlations(scores, perturbed, members, days, min_names);
    let ranks: Vec<f64> = correlations.days.iter().map(|day| day.rank_ic).collect();
    mean(&ranks).ok_or(Undefined::TooFewDays {
        days: 0,
        need_days: 1,
    })
}
