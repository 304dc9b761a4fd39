//! Intervals of means over days, from draws of days that all alphas share.

use ktd_stats::{Confidence, DEFAULT_MEAN_BLOCK_DAYS, Interval, StationaryBootstrap, StatsError, Undefined};

/// Replicates of the bootstrap.
const REPLICATES: u32 = 1_000;

/// 95 % intervals of the mean of each series, from one stationary bootstrap over so many days. A series has the places of its
/// days with their values; a replicate takes the mean over those of its days that the series has.
///
/// # Errors
/// [`StatsError`] for no day at all. For a series, [`Undefined::TooFewDays`] below two values, and
/// [`Undefined::DegenerateReplicates`] where a replicate has no day of it.
pub fn shared_mean_intervals(
    series: &[Vec<(usize, f64)>],
    days: usize,
    seed: u64,
) -> Result<Vec<Result<Interval, Undefined>>, StatsError> {
    let draws = StationaryBootstrap::new(days, DEFAULT_MEAN_BLOCK_DAYS, REPLICATES, seed)?;
    let mut means: Vec<Vec<f64>> = vec![Vec::new(); series.len()];
    let mut times = Vec::new();
    for replicate in 0..REPLICATES {
        draws.multiplicities(replicate, &mut times);
        for (values, means) in series.iter().zip(&mut means) {
            let (mut sum, mut weight) = (0.0, 0.0);
            for (day, value) in values {
                let drawn = times.get(*day).copied().unwrap_or(0.0);
                sum += drawn * value;
                weight += drawn;
            }
            if 0.0 < weight {
                means.push(sum / weight);
            }
        }
    }
    let replicates = usize::try_from(REPLICATES).unwrap_or(usize::MAX);
    let interval = |(values, means): (&Vec<(usize, f64)>, Vec<f64>)| {
        if values.len() < 2 {
            let days = values.len();
            return Err(Undefined::TooFewDays { days, need_days: 2 });
        }
        let degenerate = replicates - means.len();
        if 0 < degenerate {
            return Err(Undefined::DegenerateReplicates {
                degenerate,
                replicates,
            });
        }
        Interval::of_values(means, Confidence::P95)
    };
    Ok(series.iter().zip(means).map(interval).collect())
}

#[cfg(test)]
mod tests {
    use super::shared_mean_intervals;
    use ktd_env::KeyedStream;
    use ktd_stats::Undefined;

    #[test]
    fn an_interval_holds_its_mean_and_a_day_left_out_counts_for_nothing() {
        let mut stream = KeyedStream::for_purpose(5, "daily values");
        let whole: Vec<(usize, f64)> = (0..250).map(|day| (day, 0.02 + 0.1 * stream.normal())).collect();
        let half: Vec<(usize, f64)> = whole.iter().copied().step_by(2).collect();
        let intervals =
            shared_mean_intervals(&[whole.clone(), half.clone(), vec![(3, 1.0)]], 250, 1).unwrap();
        for (values, interval) in [&whole, &half].into_iter().zip(&intervals) {
            let mean =
                values.iter().map(|(_, value)| value).sum::<f64>() / ktd_stats::moments::count(values.len());
            let interval = interval.unwrap();
            assert!(interval.lower < mean && mean < interval.upper, "{interval:?}");
        }
        let width = |place: usize| {
            intervals[place]
                .map(|interval| interval.upper - interval.lower)
                .unwrap()
        };
        assert!(width(0) < width(1));
        assert_eq!(
            intervals[2],
            Err(Undefined::TooFewDays {
                days: 1,
                need_days: 2
            })
        );
        assert!(shared_mean_intervals(&[], 0, 1).is_err());
    }
}
