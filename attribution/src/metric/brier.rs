//! The squared error of stated confidence, and its parts.

use super::forecast::Forecasts;
use super::reliability::Reliability;
use ktd_stats::Undefined;
use ktd_stats::moments::count;

/// The Brier score with Murphy's parts over the ten bins of the reliability diagram.
///
/// `score = reliability - resolution + uncertainty + within_bin`. Murphy's identity holds without the last term when
/// all confidences of a bin are equal. They are not, so the spread of confidence within the bins, less twice its
/// covariance with success, remains (Stephenson, Coelho and Jolliffe 2008); it may be negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brier {
    /// Mean squared difference of confidence and outcome; 0 is best, 1 worst.
    pub score: f64,
    /// How far the bins' accuracies are from their confidences, squared; 0 is best.
    pub reliability: f64,
    /// How far the bins' accuracies are from the overall rate of success, squared; more is better.
    pub resolution: f64,
    /// The variance of success itself, which no forecast can change.
    pub uncertainty: f64,
    /// What the parts leave, because confidences differ within a bin.
    pub within_bin: f64,
}

impl Brier {
    /// Scores forecasts.
    ///
    /// # Errors
    /// [`Undefined::NoForecasts`] without a forecast.
    pub fn of(forecasts: &Forecasts<'_>) -> Result<Self, Undefined> {
        let all = forecasts.all();
        if all.is_empty() {
            return Err(Undefined::NoForecasts);
        }
        let forecast_count = count(all.len());
        let squares = all.iter().map(|forecast| {
            let error = forecast.confidence - forecast.outcome();
            error * error
        });
        let score = squares.sum::<f64>() / forecast_count;
        let rate = all.iter().map(super::Forecast::outcome).sum::<f64>() / forecast_count;
        let (mut reliability, mut resolution) = (0.0, 0.0);
        for bin in Reliability::of(forecasts).bins() {
            let (Some(gap), Some(accuracy)) = (bin.gap(), bin.accuracy()) else {
                continue;
            };
            let share = count(bin.forecasts()) / forecast_count;
            reliability += share * gap * gap;
            resolution += share * (accuracy - rate) * (accuracy - rate);
        }
        let uncertainty = rate * (1.0 - rate);
        Ok(Self {
            score,
            reliability,
            resolution,
            uncertainty,
            within_bin: score - (reliability - resolution + uncertainty),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Forecast;

    fn brier(pairs: &[(f64, bool)]) -> Brier {
        let forecasts: Vec<Forecast> = pairs
            .iter()
            .map(|(confidence, success)| Forecast {
                step: 0,
                confidence: *confidence,
                success: *success,
            })
            .collect();
        Brier::of(&Forecasts::new(&forecasts).unwrap()).unwrap()
    }

    #[test]
    fn murphys_identity_closes_where_a_bin_has_one_confidence() {
        let scored = brier(&[(0.2, false), (0.2, true), (0.2, false), (0.8, true), (0.8, false)]);
        assert!(scored.within_bin.abs() < 1e-15);
        assert!((scored.uncertainty - 0.24).abs() < 1e-15);
        let gaps: [f64; 2] = [0.2 - 1.0 / 3.0, 0.3];
        let reliability = 0.6 * gaps[0] * gaps[0] + 0.4 * gaps[1] * gaps[1];
        assert!((scored.reliability - reliability).abs() < 1e-15);
    }

    #[test]
    fn what_remains_is_variance_less_twice_covariance_within_the_bins() {
        let scored = brier(&[(0.51, false), (0.59, true)]);
        let (variance, covariance) = (0.04_f64 * 0.04, 0.04 * 0.5);
        assert!((scored.within_bin - (variance - 2.0 * covariance)).abs() < 1e-15);
    }

    #[test]
    fn without_a_forecast_there_is_a_reason() {
        assert_eq!(
            Brier::of(&Forecasts::new(&[]).unwrap()),
            Err(Undefined::NoForecasts)
        );
    }
}
