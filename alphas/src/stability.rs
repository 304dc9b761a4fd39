//! Stability: how much of yesterday's order of the names today's keeps.

use crate::day_table::{DayTable, MemberTable, usable};
use crate::ranking::average_ranks;
use ktd_stats::Undefined;
use ktd_stats::moments::mean;

/// Added to every share of a rank before its logarithm.
const RANK_EPSILON: f64 = 1e-8;

/// How names that are missing on one of two days are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StabilityMode {
    /// Ranks over the names present on both days.
    Common,
    /// As the published program: ranks over all names of each day, the sum over common ones, the first day counted as 1.
    PublishedCode,
}

/// The mean relative entropy of ranks (RRE), and the days that count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankStability {
    /// From above 0 to 1, where the order never changes.
    pub score: f64,
    /// Days compared with the one before.
    pub days: usize,
}

fn shares(values: &[f64]) -> Vec<f64> {
    let ranks = average_ranks(values);
    let total: f64 = ranks.iter().sum();
    ranks.into_iter().map(|rank| rank / total).collect()
}

fn kept(today: &[f64], before: &[f64]) -> f64 {
    let entropy = |(today, before): (&f64, &f64)| {
        if today.is_nan() || before.is_nan() {
            0.0
        } else {
            today * libm::log((today + RANK_EPSILON) / (before + RANK_EPSILON))
        }
    };
    1.0 / (1.0 + today.iter().zip(before).map(entropy).sum::<f64>())
}

/// The stability of an alpha over consecutive evaluated days.
///
/// # Errors
/// [`Undefined::TooFewDays`] where no two days can be compared.
pub fn rank_stability(
    scores: &DayTable,
    members: &MemberTable,
    days: &[usize],
    min_names: usize,
    mode: StabilityMode,
) -> Result<RankStability, Undefined> {
    let kept = match mode {
        StabilityMode::Common => common(scores, members, days, min_names),
        StabilityMode::PublishedCode => published(scores, members, days),
    };
    let none = Undefined::TooFewDays {
        days: kept.len(),
        need_days: 1,
    };
    Ok(RankStability {
        score: mean(&kept).ok_or(none)?,
        days: kept.len(),
    })
}

fn common(scores: &DayTable, members: &MemberTable, days: &[usize], min_names: usize) -> Vec<f64> {
    let pairs = days.iter().zip(days.iter().skip(1));
    let of_pair = |(before, today): (&usize, &usize)| {
        let both = members.day(*before).iter().zip(members.day(*today));
        let both: Vec<bool> = both.map(|(before, today)| *before && *today).collect();
        let (_, [before, today]) = usable(&both, [scores.day(*before), scores.day(*today)]);
        (min_names <= today.len()).then(|| kept(&shares(&today), &shares(&before)))
    };
    pairs.filter_map(of_pair).collect()
}

fn published(scores: &DayTable, members: &MemberTable, days: &[usize]) -> Vec<f64> {
    let mut before: Option<Vec<f64>> = None;
    let mut answers = Vec::with_capacity(days.len());
    for day in days {
        let (places, [values]) = usable(members.day(*day), [scores.day(*day)]);
        let mut today = vec![f64::NAN; scores.names()];
        for (place, share) in places.into_iter().zip(shares(&values)) {
            if let Some(slot) = today.get_mut(place) {
                *slot = share;
            }
        }
        answers.push(before.as_ref().map_or(1.0, |before| kept(&today, before)));
        before = Some(today);
    }
    answers
}
