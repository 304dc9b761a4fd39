//! What the factor kernels read of one name, derived once.

use super::config::FactorConfig;
use super::marks::Marks;
use super::packed::Packed;
use super::series::Series;
use std::ops::Range;

/// Marks and packed daily numbers of one name over a span of days.
pub(super) struct Daily {
    pub(super) marks: Marks,
    /// Days traded, as ones: only their count is read.
    pub(super) traded: Packed,
    pub(super) returns: Packed,
    pub(super) overnight: Packed,
    pub(super) intraday: Packed,
    /// Absolute return per CNY traded.
    pub(super) illiquidity: Packed,
    /// Returns of days that have a volume too, and the logarithm of that volume: packed alike.
    pub(super) paired_returns: Packed,
    pub(super) paired_log_volumes: Packed,
    pub(super) highs: Packed,
    pub(super) amounts: Packed,
}

impl Daily {
    /// Derives what the factors of `days` read: each number over its own window, as a single day may be asked
    /// for.
    pub(super) fn new(series: &Series<'_>, config: &FactorConfig, days: &Range<usize>) -> Self {
        let since = |window_days: usize| days.start.saturating_sub(window_days)..days.end;
        let FactorConfig {
            volatility,
            short,
            skewness,
            high,
            amount_variation,
            ..
        } = config;
        let return_days = since(volatility.days.max(short.days).max(skewness.days));
        let returns = Column::new(return_days.clone(), |day| series.simple_return(day));
        let log_volumes = Column::new(since(short.days), |day| series.log_volume(day));
        let known = |other: f64, value: f64| if other.is_finite() { value } else { f64::NAN };
        let traded = |day| if series.traded(day) { 1.0 } else { f64::NAN };
        Self {
            marks: Marks::new(series, since(config.momentum_long_days)),
            traded: Packed::new(since(config.momentum_long_days), traded),
            overnight: Packed::new(since(short.days), |day| series.overnight(day)),
            intraday: Packed::new(since(short.days), |day| series.intraday(day)),
            illiquidity: Packed::new(since(short.days), |day| {
                returns.at(day).abs() / series.amount(day)
            }),
            paired_returns: Packed::new(since(short.days), |day| {
                known(log_volumes.at(day), returns.at(day))
            }),
            paired_log_volumes: Packed::new(since(short.days), |day| {
                known(returns.at(day), log_volumes.at(day))
            }),
            highs: Packed::new(since(high.days), |day| series.high(day)),
            amounts: Packed::new(since(amount_variation.days), |day| series.amount(day)),
            returns: Packed::new(return_days, |day| returns.at(day)),
        }
    }
}

/// A daily number, NaN where it has no value.
struct Column {
    first_day: usize,
    values: Vec<f64>,
}

impl Column {
    fn new(days: Range<usize>, value: impl Fn(usize) -> f64) -> Self {
        Self {
            first_day: days.start,
            values: days.map(value).collect(),
        }
    }

    fn at(&self, day: usize) -> f64 {
        let index = day.checked_sub(self.first_day);
        index
            .and_then(|index| self.values.get(index))
            .copied()
            .unwrap_or(f64::NAN)
    }
}
