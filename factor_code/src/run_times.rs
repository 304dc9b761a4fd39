//! Times of runs, as figures.

use crate::casts::float;

/// Mean, spread over n - 1, least and most of times of runs; none of no run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTimes {
    /// How many runs.
    pub runs: usize,
    /// The mean, in seconds.
    pub mean: f64,
    /// The spread; none of one run.
    pub deviation: Option<f64>,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl RunTimes {
    /// The figures of times in seconds.
    #[must_use]
    pub fn of(seconds: &[f64]) -> Option<Self> {
        let runs = seconds.len();
        let mean = seconds.iter().sum::<f64>() / float(runs);
        let squares: f64 = seconds.iter().map(|time| (time - mean) * (time - mean)).sum();
        Some(Self {
            runs,
            mean,
            deviation: (1 < runs).then(|| (squares / (float(runs) - 1.0)).sqrt()),
            least: seconds.iter().copied().reduce(f64::min)?,
            most: seconds.iter().copied().reduce(f64::max)?,
        })
    }
}
