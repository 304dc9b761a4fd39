//! Stability: how much of yesterday's order of the names today's keeps.

use crate::day_table::{DayTable, MemberTable, usable};
use ktd_stats::moments::mean;
use ktd_stats::{Undefined, mid_ranks};

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
    let ranks = mid_ranks(values);
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

#[cfg(test)]
mod tests {
    use super::{StabilityMode, rank_stability};
    use crate::{DayTable, LabelKind, MemberTable, PortfolioTerms, label_returns, portfolio_test};
    use ktd_env::KeyedStream;
    use ktd_stats::line_fit;

    /// Scores that keep a share of themselves from day to day, without any market: turnover is 4.56 - 4.31 RRE, and stability
    /// rises with the share.
    #[test]
    fn turnover_follows_stability_by_a_law_that_needs_no_market() {
        let (days, names) = (200, 100);
        let members = MemberTable::from_days(names, vec![true; days * names]);
        let flat = DayTable::from_days(names, vec![1.0; (days + 2) * names]);
        let labels = label_returns(LabelKind::NextOpen, &flat, &flat, 1);
        let all: Vec<usize> = (0..days).collect();
        let points: Vec<(f64, f64)> = [
            0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995,
        ]
        .into_iter()
        .map(|kept: f64| {
            let mut stream = KeyedStream::for_purpose(1, &format!("kept share {kept}"));
            let mut state: Vec<f64> = (0..names).map(|_| stream.normal()).collect();
            let mut cells = Vec::new();
            for _ in 0..days {
                cells.extend(&state);
                for value in &mut state {
                    *value = kept * *value + (1.0 - kept * kept).sqrt() * stream.normal();
                }
            }
            let scores = DayTable::from_days(names, cells);
            let stability = rank_stability(&scores, &members, &all, 10, StabilityMode::Common).unwrap();
            let test = portfolio_test(&scores, &labels, &members, &all, PortfolioTerms::default());
            (stability.score, test.unwrap().turnover.unwrap())
        })
        .collect();
        assert!(
            points.is_sorted_by(|(left, _), (right, _)| left < right),
            "{points:?}"
        );
        let line = line_fit(&points).unwrap();
        assert!((-4.6..=-4.0).contains(&line.slope), "{line:?}");
        assert!(
            (4.3..=4.8).contains(&line.intercept) && 0.9 < line.r_squared,
            "{line:?}"
        );
    }
}
