//! How far stated confidence is from accuracy.

use super::forecast::Forecasts;
use super::reliability::Reliability;
use ktd_stats::Undefined;
use ktd_stats::moments::count;

/// Expected calibration error over ten left-closed bins: the gap between mean confidence and accuracy of each bin,
/// weighted with its share of the forecasts. Empty bins weigh nothing.
///
/// Biased upwards for few forecasts: show the number and [`ece_interval`](crate::metric::ece_interval) beside it.
///
/// # Errors
/// [`Undefined::NoForecasts`] without a forecast.
pub fn ece(forecasts: &Forecasts<'_>) -> Result<f64, Undefined> {
    if forecasts.all().is_empty() {
        return Err(Undefined::NoForecasts);
    }
    let all = count(forecasts.all().len());
    let reliability = Reliability::of(forecasts);
    let bins = reliability.bins().iter();
    Ok(bins
        .filter_map(|bin| Some(count(bin.forecasts()) / all * bin.gap()?))
        .sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Brier, Forecast};
    use proptest::prelude::*;

    fn forecasts(pairs: &[(f64, bool)]) -> Vec<Forecast> {
        let forecast = |(step, (confidence, success)): (usize, &(f64, bool))| Forecast {
            step,
            confidence: *confidence,
            success: *success,
        };
        pairs.iter().enumerate().map(forecast).collect()
    }

    #[test]
    fn certainty_that_is_right_is_calibrated_and_certainty_that_is_wrong_is_not() {
        let right = forecasts(&[(1.0, true), (1.0, true)]);
        assert_eq!(ece(&Forecasts::new(&right).unwrap()), Ok(0.0));
        let wrong = forecasts(&[(1.0, false), (0.0, true)]);
        assert_eq!(ece(&Forecasts::new(&wrong).unwrap()), Ok(1.0));
    }

    #[test]
    fn without_a_forecast_there_is_a_reason() {
        assert_eq!(ece(&Forecasts::new(&[]).unwrap()), Err(Undefined::NoForecasts));
    }

    proptest! {
        #[test]
        fn it_is_a_share_that_does_not_depend_on_order(
            pairs in prop::collection::vec((0.0..=1.0_f64, any::<bool>()), 1..60),
        ) {
            let given = forecasts(&pairs);
            let reversed: Vec<Forecast> = given.iter().rev().copied().collect();
            let [given, reversed] = [&given, &reversed].map(|all| Forecasts::new(all).unwrap());
            let value = ece(&given).unwrap();
            prop_assert!((0.0..=1.0 + 1e-12).contains(&value));
            prop_assert!((value - ece(&reversed).unwrap()).abs() < 1e-12);
            let score = Brier::of(&given).unwrap().score;
            prop_assert!(value * value <= score + 1e-12);
        }
    }
}
