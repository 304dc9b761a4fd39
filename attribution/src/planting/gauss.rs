//! Normal draws.

use ktd_stats::{SplitMix64, normal_quantile};

/// A draw of the standard normal distribution.
pub(super) fn gauss(generator: &mut SplitMix64) -> f64 {
    normal_quantile(generator.uniform()).unwrap_or(0.0)
}
