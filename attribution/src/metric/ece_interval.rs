//! How sure a calibration error is.

use super::forecast::{Forecast, Forecasts};
use super::reliability::{RELIABILITY_BINS, bin_of};
use ktd_stats::moments::count;
use ktd_stats::{Confidence, Interval, StationaryBootstrap, StatsError, Undefined};
use std::collections::BTreeMap;

/// Percentile interval of [`ece`](crate::metric::ece), drawing the *steps* that have forecasts: the orders of a step
/// share its market, and drawing them one by one would make the interval too narrow. With a mean block of 1 steps are
/// drawn singly; with more, in blocks of neighbours.
///
/// The percentiles carry the upward bias of the measure for few forecasts: the observed value may lie at the lower end.
///
/// # Errors
/// [`StatsError::Drawn`] unless the draws are from as many steps as have forecasts. Within: [`Undefined::NoForecasts`].
pub fn ece_interval(
    forecasts: &Forecasts<'_>,
    draws: &StationaryBootstrap,
    confidence: Confidence,
) -> Result<Result<Interval, Undefined>, StatsError> {
    let mut steps: BTreeMap<usize, Vec<Forecast>> = BTreeMap::new();
    for forecast in forecasts.all() {
        steps.entry(forecast.step).or_default().push(*forecast);
    }
    if steps.is_empty() {
        return Ok(Err(Undefined::NoForecasts));
    }
    draws.check_days(steps.len())?;
    let steps: Vec<Vec<Forecast>> = steps.into_values().collect();
    let mut times = Vec::new();
    let replicate = |replicate: u32| {
        draws.multiplicities(replicate, &mut times);
        weighted_ece(&steps, &times)
    };
    let values: Vec<f64> = (0..draws.replicates()).map(replicate).collect();
    Ok(Interval::of_values(values, confidence))
}

/// The calibration error when each step is there so many times. The gap of a bin, times its forecasts, is the absolute
/// sum of confidence less outcome within it.
fn weighted_ece(steps: &[Vec<Forecast>], times: &[f64]) -> f64 {
    let (mut gaps, mut all) = ([0.0; RELIABILITY_BINS], 0.0);
    for (step, times) in steps.iter().zip(times) {
        all += times * count(step.len());
        for forecast in step {
            if let Some(gap) = gaps.get_mut(bin_of(forecast.confidence)) {
                *gap += times * (forecast.confidence - forecast.outcome());
            }
        }
    }
    gaps.iter().map(|gap| gap.abs()).sum::<f64>() / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::ece;
    use ktd_stats::SplitMix64;

    fn forecasts(steps: usize, orders: usize) -> Vec<Forecast> {
        let mut generator = SplitMix64::new(11);
        let mut all = Vec::new();
        for step in 0..steps {
            // All orders of a step succeed or fail together.
            let success = generator.uniform() < 0.5;
            all.extend((0..orders).map(|_| Forecast {
                step: 3 * step,
                confidence: 0.75,
                success,
            }));
        }
        all
    }

    fn width(all: &[Forecast]) -> f64 {
        let steps = all.chunk_by(|one, other| one.step == other.step).count();
        let draws = StationaryBootstrap::new(steps, 1.0, 500, 1).unwrap();
        let checked = Forecasts::new(all).unwrap();
        let interval = ece_interval(&checked, &draws, Confidence::P95).unwrap().unwrap();
        assert!((0.0..=1.0).contains(&interval.lower) && interval.lower <= interval.upper);
        interval.upper - interval.lower
    }

    #[test]
    fn orders_of_a_step_are_no_evidence_of_their_own() {
        let clustered = forecasts(40, 10);
        let mut alone = clustered.clone();
        for (step, forecast) in alone.iter_mut().enumerate() {
            forecast.step = step;
        }
        assert!(2.0 * width(&alone) < width(&clustered));
        assert!((width(&clustered) - width(&forecasts(40, 1))).abs() < 1e-12);
    }

    #[test]
    fn each_step_once_is_the_measure_itself() {
        let all = forecasts(7, 2);
        let observed = ece(&Forecasts::new(&all).unwrap()).unwrap();
        let steps: Vec<Vec<Forecast>> = all.chunks(2).map(<[Forecast]>::to_vec).collect();
        assert!((weighted_ece(&steps, &[1.0; 7]) - observed).abs() < 1e-15);
    }

    #[test]
    fn the_draws_are_of_steps_with_forecasts() {
        let all = forecasts(7, 2);
        let checked = Forecasts::new(&all).unwrap();
        let draws = StationaryBootstrap::new(14, 1.0, 10, 1).unwrap();
        let refused = ece_interval(&checked, &draws, Confidence::P95);
        assert!(matches!(refused, Err(StatsError::Drawn { drawn: 14, days: 7 })));
        let none = Forecasts::new(&[]).unwrap();
        assert_eq!(
            ece_interval(&none, &draws, Confidence::P95),
            Ok(Err(Undefined::NoForecasts))
        );
    }
}
