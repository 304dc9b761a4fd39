//! Stated confidences of a model in its orders, and their outcomes.

use super::error::MetricError;

/// One order's stated confidence and its outcome.
///
/// Which orders, and what success is, are the caller's: signed (a sale succeeds when the price falls), unsigned, or
/// purchases alone. The return is that from the fill to the first legal exit; a return of 0 is no success.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The step in which the order was given. Orders of one step share a market and are resampled together.
    pub step: usize,
    /// Stated probability of success, from 0 to 1.
    pub confidence: f64,
    /// Whether it succeeded.
    pub success: bool,
}

impl Forecast {
    /// The outcome as a number: 1 for success.
    pub(super) fn outcome(&self) -> f64 {
        f64::from(u8::from(self.success))
    }
}

/// Forecasts whose confidences are all probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecasts<'a> {
    forecasts: &'a [Forecast],
}

impl<'a> Forecasts<'a> {
    /// Checks the confidences.
    ///
    /// # Errors
    /// [`MetricError::Confidence`] for one that is not a number from 0 to 1.
    pub fn new(forecasts: &'a [Forecast]) -> Result<Self, MetricError> {
        for (place, forecast) in forecasts.iter().enumerate() {
            if !(0.0..=1.0).contains(&forecast.confidence) {
                return Err(MetricError::Confidence {
                    forecast: place,
                    value: forecast.confidence,
                });
            }
        }
        Ok(Self { forecasts })
    }

    /// The forecasts, in the order given.
    #[must_use]
    pub const fn all(&self) -> &'a [Forecast] {
        self.forecasts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_is_a_probability() {
        for confidence in [-1e-300, 1.000_000_000_000_000_2, f64::NAN, f64::INFINITY] {
            let forecasts = [0.5, confidence].map(|confidence| Forecast {
                step: 0,
                confidence,
                success: true,
            });
            let error = Forecasts::new(&forecasts).unwrap_err();
            assert!(matches!(error, MetricError::Confidence { forecast: 1, .. }));
            assert!(!error.hint().is_empty());
        }
        let edges = [0.0, 1.0, -0.0].map(|confidence| Forecast {
            step: 0,
            confidence,
            success: true,
        });
        assert!(Forecasts::new(&edges).is_ok());
    }
}
