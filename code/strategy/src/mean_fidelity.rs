//! The mean D1 of a model's submissions, and how far the draw of bars matters.

use crate::indicators::{count, mean};
use crate::jackknife::{jackknife_reach, jackknife_reach_among};

/// What a difference of two means is more than at least: a deviation that costs the same on nearly every draw shows in few draws no
/// wider, and is off by as much.
const LEAST_DIFFERENCE: f64 = 0.002;

/// D1 of the ranked version of a submission.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnFidelity {
    /// Over all draws of scenarios and long run.
    pub score: f64,
    /// Without each of the draws.
    pub without: Vec<f64>,
}

/// The mean D1 of some submissions, with 0 for one that is not valid.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanFidelity {
    /// The mean.
    pub mean: f64,
    /// 95 % bounds over draws of scenarios and long run, by leaving one out at a time; none below two draws, and where submissions
    /// have other numbers of them.
    pub bounds: Option<(f64, f64)>,
    /// The draws, which all submissions share; 0 where there are no bounds.
    pub draws: usize,
    /// The mean without each of the draws.
    without: Vec<f64>,
}

impl MeanFidelity {
    /// The mean over submissions, none of which stands for one that is not valid; none of no submission.
    #[must_use]
    pub fn of(submissions: &[Option<DrawnFidelity>]) -> Option<Self> {
        let scores = submissions
            .iter()
            .map(|own| own.as_ref().map_or(0.0, |own| own.score));
        let mean = mean(&scores.collect::<Vec<_>>())?;
        let left = without_each(submissions).unwrap_or_default();
        let reach = jackknife_reach(&left);
        Some(Self {
            mean,
            bounds: reach.map(|reach| ((mean - reach).max(0.0), (mean + reach).min(1.0))),
            draws: reach.map_or(0, |_| left.len()),
            without: left,
        })
    }

    /// Whether another model's mean over the same draws differs, where so many pairs of models are looked at: of equal models any are
    /// told apart in at most 5 of 100 reports. Never without bounds.
    #[must_use]
    pub fn is_apart(&self, other: &Self, pairs: usize) -> bool {
        if self.without.len() != other.without.len() {
            return false;
        }
        let draws = self.without.iter().zip(&other.without);
        let left: Vec<f64> = draws.map(|(own, other)| own - other).collect();
        jackknife_reach_among(&left, pairs)
            .is_some_and(|reach| reach.max(LEAST_DIFFERENCE) < (self.mean - other.mean).abs())
    }
}

/// The mean D1 without each of the draws; none where a submission that counts has another number of them.
fn without_each(submissions: &[Option<DrawnFidelity>]) -> Option<Vec<f64>> {
    let valid = || submissions.iter().flatten();
    let draws = valid().next()?.without.len();
    if valid().any(|own| own.without.len() != draws) {
        return None;
    }
    let without = |draw: usize| {
        let left = valid().filter_map(|own| own.without.get(draw));
        left.sum::<f64>() / count(submissions.len())
    };
    Some((0..draws).map(without).collect())
}
