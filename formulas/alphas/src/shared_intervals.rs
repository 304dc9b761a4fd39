//! Intervals of means over days, from draws of days that all alphas share.

use ktd_stats::moments::mean;
use ktd_stats::{
    Confidence, DEFAULT_MEAN_BLOCK_DAYS, Interval, StationaryBootstrap, StatsError, TRADING_DAYS_PER_YEAR,
    Undefined,
};

/// Replicates of the bootstrap.
const REPLICATES: u32 = 1_000;

/// Values of some of the days, with their places.
pub type DaySeries = Vec<(usize, f64)>;

/// Series in records by their bits: a return may be infinite, and JSON has no such number.
pub mod exact_series {
    use super::DaySeries;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a series.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(series: &DaySeries, serializer: S) -> Result<S::Ok, S::Error> {
        let bits = series.iter().map(|(day, value)| (*day, value.to_bits()));
        bits.collect::<Vec<(usize, u64)>>().serialize(serializer)
    }

    /// Reads a series.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<DaySeries, D::Error> {
        let bits = Vec::<(usize, u64)>::deserialize(deserializer)?.into_iter();
        Ok(bits.map(|(day, bits)| (day, f64::from_bits(bits))).collect())
    }
}

/// 95 % intervals of the mean of each series, from one stationary bootstrap over so many days. A series has the places of its
/// days with their values; a replicate takes the mean over those of its days that the series has.
///
/// # Errors
/// [`StatsError`] for no day at all. For a series, [`Undefined::TooFewDays`] below two values, and
/// [`Undefined::DegenerateReplicates`] where a replicate has no day of it.
pub fn shared_mean_intervals(
    series: &[DaySeries],
    days: usize,
    seed: u64,
) -> Result<Vec<Result<Interval, Undefined>>, StatsError> {
    intervals(series, days, seed, |drawn| Some(drawn.sum / drawn.weight))
}

/// The same of the annual Sharpe ratio of each series of daily returns.
///
/// # Errors
/// Those of [`shared_mean_intervals`]; a replicate without any variance has no value either.
pub fn shared_sharpe_intervals(
    series: &[DaySeries],
    days: usize,
    seed: u64,
) -> Result<Vec<Result<Interval, Undefined>>, StatsError> {
    // About the mean of the series, so that the sum of squares does not cancel.
    let values = |series: &DaySeries| series.iter().map(|(_, value)| *value).collect::<Vec<f64>>();
    let means: Vec<f64> = series
        .iter()
        .map(|series| mean(&values(series)).unwrap_or(0.0))
        .collect();
    let centred: Vec<DaySeries> = series
        .iter()
        .zip(&means)
        .map(|(series, mean)| series.iter().map(|(day, value)| (*day, value - mean)).collect())
        .collect();
    let mut means = means.into_iter().cycle();
    intervals(&centred, days, seed, move |drawn| {
        let middle = means.next()?;
        let shift = drawn.sum / drawn.weight;
        let variance = (drawn.squares - drawn.weight * shift * shift) / (drawn.weight - 1.0);
        let deviation = variance.max(0.0).sqrt();
        let ratio = TRADING_DAYS_PER_YEAR.sqrt() * (middle + shift) / deviation;
        ratio.is_finite().then_some(ratio)
    })
}

/// What a replicate has of a series.
#[derive(Debug, Clone, Copy, Default)]
struct DrawnSums {
    weight: f64,
    sum: f64,
    squares: f64,
}

/// `statistic` is asked for each series in their order, replicate after replicate.
fn intervals(
    series: &[DaySeries],
    days: usize,
    seed: u64,
    mut statistic: impl FnMut(DrawnSums) -> Option<f64>,
) -> Result<Vec<Result<Interval, Undefined>>, StatsError> {
    let draws = StationaryBootstrap::new(days, DEFAULT_MEAN_BLOCK_DAYS, REPLICATES, seed)?;
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); series.len()];
    let mut times = Vec::new();
    for replicate in 0..REPLICATES {
        draws.multiplicities(replicate, &mut times);
        for (values, found) in series.iter().zip(&mut found) {
            let mut drawn = DrawnSums::default();
            for (day, value) in values {
                let weight = times.get(*day).copied().unwrap_or(0.0);
                drawn.weight += weight;
                drawn.sum += weight * value;
                drawn.squares += weight * value * value;
            }
            let value = statistic(drawn).filter(|_| 0.0 < drawn.weight);
            found.extend(value);
        }
    }
    let replicates = usize::try_from(REPLICATES).unwrap_or(usize::MAX);
    let interval = |(values, found): (&DaySeries, Vec<f64>)| {
        if values.len() < 2 {
            let days = values.len();
            return Err(Undefined::TooFewDays { days, need_days: 2 });
        }
        let degenerate = replicates - found.len();
        if 0 < degenerate {
            return Err(Undefined::DegenerateReplicates {
                degenerate,
                replicates,
            });
        }
        Interval::of_values(found, Confidence::P95)
    };
    Ok(series.iter().zip(found).map(interval).collect())
}

#[cfg(test)]
mod tests {
    use super::{shared_mean_intervals, shared_sharpe_intervals};
    use ktd_env::KeyedStream;
    use ktd_stats::{
        Confidence, DEFAULT_MEAN_BLOCK_DAYS, DailyTable, StationaryBootstrap, Undefined, sharpe_intervals,
    };

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

    /// On series that have every day the intervals of the Sharpe ratio are those of whole tables.
    #[test]
    fn sharpe_ratios_have_the_intervals_of_tables() {
        let mut stream = KeyedStream::for_purpose(6, "daily returns");
        let mut returns = || -> Vec<f64> { (0..200).map(|_| 5.0 + 0.01 * stream.normal()).collect() };
        let columns = [returns(), returns()];
        let series = columns
            .each_ref()
            .map(|values| values.iter().copied().enumerate().collect());
        let found = shared_sharpe_intervals(&series, 200, 1).unwrap();
        let table = DailyTable::new("returns", &columns.each_ref().map(Vec::as_slice)).unwrap();
        let draws = StationaryBootstrap::new(200, DEFAULT_MEAN_BLOCK_DAYS, 1_000, 1).unwrap();
        for (found, wanted) in found
            .iter()
            .zip(sharpe_intervals(&table, &draws, Confidence::P95).unwrap())
        {
            let (found, wanted) = (found.unwrap(), wanted.unwrap());
            assert!(
                (found.lower / wanted.lower - 1.0).abs() < 1e-9,
                "{found:?} {wanted:?}"
            );
            assert!(
                (found.upper / wanted.upper - 1.0).abs() < 1e-9,
                "{found:?} {wanted:?}"
            );
        }
        let constant = vec![(0, 0.5), (1, 0.5), (2, 0.5)];
        assert!(shared_sharpe_intervals(&[constant], 3, 1).unwrap()[0].is_err());
    }
}
