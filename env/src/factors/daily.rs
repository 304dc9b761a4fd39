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
        let short_days = since(short.days);
        let returns = series.simple_returns(&return_days);
        let late = returns.len().saturating_sub(short_days.len());
        let short_returns = returns.get(late..).unwrap_or_default();
        let mut log_volumes = series.log_volumes(&short_days);
        let mut paired_returns = short_returns.to_vec();
        for (log_volume, paired) in log_volumes.iter_mut().zip(&mut paired_returns) {
            let both = log_volume.is_finite() && paired.is_finite();
            (*log_volume, *paired) = if both {
                (*log_volume, *paired)
            } else {
                (f64::NAN, f64::NAN)
            };
        }
        let mut illiquidity = series.amounts(&short_days);
        for (ratio, change) in illiquidity.iter_mut().zip(short_returns) {
            *ratio = change.abs() / *ratio;
        }
        let momentum_days = since(config.momentum_long_days);
        let traded = series.traded_on(&momentum_days).iter();
        let traded: Vec<f64> = traded
            .map(|traded| if *traded { 1.0 } else { f64::NAN })
            .collect();
        let (high_days, amount_days) = (since(high.days), since(amount_variation.days));
        Self {
            marks: Marks::new(series, momentum_days.clone()),
            traded: Packed::new(momentum_days, &traded),
            overnight: Packed::new(short_days.clone(), &series.overnights(&short_days)),
            intraday: Packed::new(short_days.clone(), &series.intradays(&short_days)),
            illiquidity: Packed::new(short_days.clone(), &illiquidity),
            paired_returns: Packed::new(short_days.clone(), &paired_returns),
            paired_log_volumes: Packed::new(short_days, &log_volumes),
            highs: Packed::new(high_days.clone(), &series.highs(&high_days)),
            amounts: Packed::new(amount_days.clone(), &series.amounts(&amount_days)),
            returns: Packed::new(return_days, &returns),
        }
    }
}
