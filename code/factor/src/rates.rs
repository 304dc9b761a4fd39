//! Shares of counts, and the chance that one of k samples passes.

use crate::casts::float;
use crate::error::FactorCodeError;
use ktd_stats::{Confidence, Interval, wilson};

/// A count among all, such as of planted programs, with Wilson's 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskRate {
    /// Tasks that pass.
    pub passed: u64,
    /// All tasks.
    pub tasks: u64,
}

impl TaskRate {
    /// The share; none without a task.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (0 < self.tasks).then(|| whole(self.passed) / whole(self.tasks))
    }

    /// Wilson's interval; none without a task.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        wilson(self.passed, self.tasks, Confidence::P95).ok().flatten()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of tasks are far below 2^53")]
const fn whole(count: u64) -> f64 {
    count as f64
}

/// The chance that at least one of `k` samples drawn without replacement passes: 1 - C(n - c, k) / C(n, k).
///
/// # Errors
/// [`FactorCodeError::TooFewSamples`] where there are fewer samples than draws, or no draw.
pub fn pass_at_k(samples: u64, passed: u64, k: u64) -> Result<f64, FactorCodeError> {
    if samples < k || k == 0 || samples < passed {
        return Err(FactorCodeError::TooFewSamples { samples, k });
    }
    let failed = samples - passed;
    if failed < k {
        return Ok(1.0);
    }
    // the product of (failed - i) / (samples - i)
    let none = (0..k).fold(1.0, |chance, drawn| {
        chance * whole(failed - drawn) / whole(samples - drawn)
    });
    Ok(1.0 - none)
}

/// The mean of Pass@k over tasks, each with its samples and how many of them pass.
///
/// # Errors
/// As [`pass_at_k`].
pub fn mean_pass_at_k(tasks: &[(u64, u64)], k: u64) -> Result<Option<f64>, FactorCodeError> {
    let mut sum = 0.0;
    for (samples, passed) in tasks {
        sum += pass_at_k(*samples, *passed, k)?;
    }
    Ok((!tasks.is_empty()).then(|| sum / float(tasks.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pass_at_k_is_the_share_of_draws_that_hold_a_pass() {
        assert!((pass_at_k(10, 3, 1).unwrap() - 0.3).abs() < 1e-15);
        // of 10 pairs out of 5 samples, 3 hold none of 2 passes
        assert!((pass_at_k(5, 2, 2).unwrap() - 0.7).abs() < 1e-15);
        assert!((pass_at_k(4, 4, 2).unwrap() - 1.0).abs() < 1e-15);
        assert!(pass_at_k(4, 0, 4).unwrap().abs() < 1e-15);
        assert_eq!(
            pass_at_k(2, 1, 3),
            Err(FactorCodeError::TooFewSamples { samples: 2, k: 3 })
        );
        assert_eq!(mean_pass_at_k(&[], 1), Ok(None));
        assert!((mean_pass_at_k(&[(2, 1), (2, 2)], 1).unwrap().unwrap() - 0.75).abs() < 1e-15);
    }

    #[test]
    fn a_share_of_nothing_is_none() {
        let rate = TaskRate { passed: 5, tasks: 10 };
        assert!(rate.interval().unwrap().lower < 0.5 && rate.share().is_some());
        assert_eq!(TaskRate { passed: 0, tasks: 0 }.share(), None);
    }
}
