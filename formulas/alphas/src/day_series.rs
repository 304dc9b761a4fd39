//! Values of some of the days, and how sure what they come to is.

use ktd_stats::{Confidence, DailyTable, Interval, MeanContrasts, Sample, Undefined};

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

fn values(series: &DaySeries) -> Vec<f64> {
    series.iter().map(|(_, value)| *value).collect()
}

/// The 95 % interval of the mean of a series over the days that it has, by its own contrasts alone
/// (docs/spec/statistics.md#contrasts).
///
/// # Errors
/// [`Undefined::TooFewDays`] below two values, [`Undefined::ZeroVariance`] of values that do not vary.
pub fn mean_interval(series: &DaySeries) -> Result<Interval, Undefined> {
    let values = values(series);
    let table = DailyTable::new("daily values", &[&values]).map_err(|_| Undefined::OutOfRange)?;
    interval(&MeanContrasts::of_days(&table)?)
}

/// The same of the annual Sharpe ratio of daily returns.
///
/// # Errors
/// As [`mean_interval`].
pub fn sharpe_interval(returns: &DaySeries) -> Result<Interval, Undefined> {
    let values = values(returns);
    let sample = Sample::new("daily returns", &values).map_err(|_| Undefined::OutOfRange)?;
    interval(&MeanContrasts::of_sharpe(&[sample])?)
}

fn interval(mean: &MeanContrasts) -> Result<Interval, Undefined> {
    let interval = mean.estimate()?.interval(Confidence::P95);
    interval.map_err(|_| Undefined::OutOfRange)
}

#[cfg(test)]
mod tests {
    use super::{mean_interval, sharpe_interval};
    use ktd_env::KeyedStream;
    use ktd_stats::Undefined;

    /// Planted means and ratios are held as often as is said: 800 series of 60 days, within the 99 % range of 95 %.
    #[test]
    fn what_is_planted_is_held_as_often_as_is_said() {
        const SERIES: u32 = 800;
        let mut stream = KeyedStream::for_purpose(5, "planted series");
        let (mut means, mut ratios) = (0, 0);
        for _ in 0..SERIES {
            let series = (0..60)
                .map(|day| (2 * day, 0.001 + 0.01 * stream.normal()))
                .collect();
            let holds = |interval: Result<ktd_stats::Interval, Undefined>, truth: f64| {
                let interval = interval.unwrap();
                u32::from((interval.lower..=interval.upper).contains(&truth))
            };
            means += holds(mean_interval(&series), 0.001);
            ratios += holds(sharpe_interval(&series), 0.1 * 252.0_f64.sqrt());
        }
        for held in [means, ratios] {
            assert!((744..=775).contains(&held), "{held} of {SERIES}");
        }
    }

    #[test]
    fn what_does_not_vary_or_is_too_short_has_none() {
        let constant = vec![(0, 0.5), (1, 0.5), (2, 0.5)];
        assert!(mean_interval(&constant).is_err() && sharpe_interval(&constant).is_err());
        let need_days = 2;
        assert_eq!(
            mean_interval(&vec![(3, 1.0)]),
            Err(Undefined::TooFewDays { days: 1, need_days })
        );
    }
}
