//! Predictive power: how well an alpha orders the returns that follow.

use crate::day_table::{DayTable, MemberTable, usable};
use ktd_stats::moments::{Moments, mean};
use ktd_stats::{Ranking, Sample, Undefined, newey_west, pearson, rank_correlation};

/// The correlations of one day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DayCorrelation {
    /// The day.
    pub day: usize,
    /// Pearson's, of values.
    pub ic: f64,
    /// Spearman's, of ranks.
    pub rank_ic: f64,
}

/// The correlations of an alpha with a label on all days that count.
#[derive(Debug, Clone, PartialEq)]
pub struct DailyCorrelations {
    /// By day.
    pub days: Vec<DayCorrelation>,
    /// Days with too few usable names, or equal values on a side.
    pub left_out: usize,
}

/// How well an alpha predicts, over the days that count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictivePower {
    /// Days that count.
    pub days: usize,
    /// Mean correlation of values.
    pub ic: f64,
    /// Mean correlation of ranks.
    pub rank_ic: f64,
    /// Their mean, weighted by beta: PPS.
    pub score: f64,
    /// Mean over deviation of the correlation of values.
    pub ic_ratio: Result<f64, Undefined>,
    /// Mean over deviation of the correlation of ranks.
    pub rank_ic_ratio: Result<f64, Undefined>,
    /// Newey and West's t of the mean correlation of ranks.
    pub rank_ic_t: Result<f64, Undefined>,
}

/// Correlates an alpha with a label, day by day, over the members that have both.
#[must_use]
pub fn daily_correlations(
    scores: &DayTable,
    labels: &DayTable,
    members: &MemberTable,
    days: &[usize],
    min_names: usize,
) -> DailyCorrelations {
    let mut ranking = Ranking::default();
    let (mut left_ranks, mut right_ranks) = (Vec::new(), Vec::new());
    let of_day = |day: &usize| {
        let (_, [left, right]) = usable(members.day(*day), [scores.day(*day), labels.day(*day)]);
        if left.len() < min_names {
            return None;
        }
        ranking.centred_ranks(&left, &mut left_ranks);
        ranking.centred_ranks(&right, &mut right_ranks);
        Some(DayCorrelation {
            day: *day,
            rank_ic: rank_correlation(&left_ranks, &right_ranks)?,
            ic: pearson(&left, &right)?,
        })
    };
    let counted: Vec<DayCorrelation> = days.iter().filter_map(of_day).collect();
    DailyCorrelations {
        left_out: days.len() - counted.len(),
        days: counted,
    }
}

impl DailyCorrelations {
    /// The predictive power: `beta` is the weight of values, the rest that of ranks.
    ///
    /// # Errors
    /// [`Undefined::TooFewDays`] where no day counts.
    pub fn power(&self, beta: f64) -> Result<PredictivePower, Undefined> {
        let column = |of: fn(&DayCorrelation) -> f64| -> Vec<f64> { self.days.iter().map(of).collect() };
        let (ics, rank_ics) = (column(|day| day.ic), column(|day| day.rank_ic));
        let days = self.days.len();
        let none = Undefined::TooFewDays { days, need_days: 1 };
        let (ic, rank_ic) = (mean(&ics).ok_or(none)?, mean(&rank_ics).ok_or(none)?);
        let few = Undefined::TooFewDays { days, need_days: 2 };
        let ratio = |values: &[f64]| {
            Moments::of(values)
                .ok_or(few)?
                .daily_ratio(Undefined::ZeroVariance)
        };
        let sample = Sample::new("correlations of ranks", &rank_ics).map_err(|_| few)?;
        Ok(PredictivePower {
            days,
            ic,
            rank_ic,
            score: beta * ic + (1.0 - beta) * rank_ic,
            ic_ratio: ratio(&ics),
            rank_ic_ratio: ratio(&rank_ics),
            rank_ic_t: newey_west(&sample, None).map(|test| test.t),
        })
    }
}
