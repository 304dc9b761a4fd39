//! Mean and deviation of daily figures.

use super::error::Undefined;

/// A count as a float; exact up to 2^32 days, far beyond any window.
pub(super) fn count(items: usize) -> f64 {
    u32::try_from(items).map_or(f64::from(u32::MAX), f64::from)
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
}

/// Mean and sample deviation (ddof 1).
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    mean: f64,
    deviation: f64,
}

impl Moments {
    /// Two passes, in order; `None` of fewer than two values.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let mean = mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Some(Self {
            mean,
            deviation: (squares / (count(values.len()) - 1.0)).sqrt(),
        })
    }

    /// `sqrt(252) * mean / deviation`, or `constant` where the deviation is nothing but rounding.
    pub(super) fn annual_ratio(&self, constant: Undefined) -> Result<f64, Undefined> {
        const ROUNDING: f64 = 1e-12;
        let deviation = Undefined::unless_finite(self.deviation)?;
        if deviation <= ROUNDING * self.mean.abs().max(1.0) {
            return Err(constant);
        }
        Undefined::unless_finite(super::TRADING_DAYS_PER_YEAR.sqrt() * self.mean / deviation)
    }
}
