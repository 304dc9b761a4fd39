//! What a level of resampling adds beyond the noise of the levels below it.
//!
//! What seeds or windows are observed to differ by holds the noise of their days, and resampled days would count it again
//! (Davison and Hinkley 1997, section 3.8). So their differences are shrunk to the share that the days do not explain.

use super::split_mix::SplitMix64;
use crate::moments::count;

/// What was observed to vary, and what a lower level explains of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Variances {
    pub(crate) observed: f64,
    pub(crate) explained: f64,
}

impl Variances {
    /// The share that is not explained.
    pub(crate) fn unexplained(self) -> f64 {
        if self.observed <= self.explained {
            return 0.0;
        }
        1.0 - self.explained / self.observed
    }
}

/// Leaves of differences from their mean this share of their variance; means of them, drawn with replacement, then vary as
/// means of new ones would.
pub(crate) fn shrink(differences: &mut [f64], share: f64) {
    let all = count(differences.len());
    let scale = (share * all / (all - 1.0).max(1.0)).sqrt();
    for difference in differences {
        *difference *= scale;
    }
}

/// The mean of as many as there are, drawn with replacement; 0 of one.
pub(crate) fn mean_of_drawn(values: &[f64], generator: &mut SplitMix64) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let drawn = (0..values.len()).filter_map(|_| values.get(generator.below(count(values.len()))));
    drawn.sum::<f64>() / count(values.len())
}

/// Their mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len())
}

/// With one degree of freedom less than values; 0 of one.
pub(crate) fn sample_variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    squares / (count(values.len()) - 1.0).max(1.0)
}
