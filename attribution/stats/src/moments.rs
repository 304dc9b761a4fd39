//! Mean and deviation of daily figures.

use crate::undefined::Undefined;

/// A count as a float; exact up to 2^32 days, far beyond any window.
#[must_use]
pub fn count(items: usize) -> f64 {
    u32::try_from(items).map_or(f64::from(u32::MAX), f64::from)
}

/// The mean; `None` of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
}

/// Whether a deviation is nothing but rounding relative to its mean: at most 1e-12 of the larger of 1 and the mean.
#[must_use]
pub const fn is_rounding(deviation: f64, mean: f64) -> bool {
    const ROUNDING: f64 = 1e-12;
    deviation <= ROUNDING * mean.abs().max(1.0)
}

/// The mean of each column over rows of one length, in order; empty without rows.
#[must_use]
pub fn column_means(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = rows.first().map_or_else(Vec::new, |row| vec![0.0; row.len()]);
    for row in rows {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let rows = count(rows.len());
    sums.into_iter().map(|sum| sum / rows).collect()
}

/// Mean and sample deviation (ddof 1).
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    mean: f64,
    variance: f64,
    deviation: f64,
}

impl Moments {
    /// Two passes, in order; `None` of fewer than two values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let mean = mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let variance = squares / (count(values.len()) - 1.0);
        Some(Self {
            mean,
            variance,
            deviation: variance.sqrt(),
        })
    }

    /// The mean.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The sample variance (ddof 1).
    #[must_use]
    pub const fn variance(&self) -> f64 {
        self.variance
    }

    /// Its root.
    #[must_use]
    pub const fn deviation(&self) -> f64 {
        self.deviation
    }

    /// `sqrt(252) * mean / deviation`, or `constant` where the deviation is nothing but rounding.
    ///
    /// # Errors
    /// `constant`, or [`Undefined::OutOfRange`].
    pub fn annual_ratio(&self, constant: Undefined) -> Result<f64, Undefined> {
        let deviation = self.varying(constant)?;
        Undefined::unless_finite(crate::TRADING_DAYS_PER_YEAR.sqrt() * self.mean / deviation)
    }

    /// `mean / deviation` of one day, or `constant` where the deviation is nothing but rounding.
    ///
    /// # Errors
    /// `constant`, or [`Undefined::OutOfRange`].
    pub fn daily_ratio(&self, constant: Undefined) -> Result<f64, Undefined> {
        let deviation = self.varying(constant)?;
        Undefined::unless_finite(self.mean / deviation)
    }

    fn varying(&self, constant: Undefined) -> Result<f64, Undefined> {
        let deviation = Undefined::unless_finite(self.deviation)?;
        if is_rounding(deviation, self.mean) {
            return Err(constant);
        }
        Ok(deviation)
    }
}
