//! End-of-day weights of an episode, checked once.

use super::error::MetricError;
use super::nav_path::check_magnitude;
use std::collections::BTreeMap;

/// Weights of the names held at each close: value over net asset value, cash left out. The key is whatever tells
/// names apart; sums run in its order.
#[derive(Debug, Clone, Copy)]
pub struct WeightPath<'a, K> {
    days: &'a [BTreeMap<K, f64>],
}

impl<'a, K: Ord> WeightPath<'a, K> {
    /// One map a day.
    ///
    /// # Errors
    /// [`MetricError::Negative`] for a weight that is not a number of 0 or more: the account is long only.
    pub fn new(days: &'a [BTreeMap<K, f64>]) -> Result<Self, MetricError> {
        for (place, weights) in days.iter().enumerate() {
            for weight in weights.values() {
                check_magnitude("weight", place, *weight)?;
            }
        }
        Ok(Self { days })
    }

    /// The days, in order.
    #[must_use]
    pub const fn days(&self) -> &'a [BTreeMap<K, f64>] {
        self.days
    }
}
