//! What the factor kernels read of one name, derived once.

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
    /// Derives everything for `days` of the series.
    pub(super) fn new(series: &Series<'_>, days: &Range<usize>) -> Self {
        let pack = |value: &dyn Fn(usize) -> f64| Packed::new(days.clone(), value);
        let column = |value: &dyn Fn(usize) -> f64| days.clone().map(value).collect::<Vec<_>>();
        let returns = column(&|day| series.simple_return(day));
        let log_volumes = column(&|day| series.log_volume(day));
        let read = |column: &[f64], day: usize| column.get(day - days.start).copied().unwrap_or(f64::NAN);
        let other_known = |value: f64, other: f64| if other.is_finite() { value } else { f64::NAN };
        Self {
            marks: Marks::new(series, days.clone()),
            traded: pack(&|day| if series.traded(day) { 1.0 } else { f64::NAN }),
            overnight: pack(&|day| series.overnight(day)),
            intraday: pack(&|day| series.intraday(day)),
            illiquidity: pack(&|day| read(&returns, day).abs() / series.amount(day)),
            paired_returns: pack(&|day| other_known(read(&returns, day), read(&log_volumes, day))),
            paired_log_volumes: pack(&|day| other_known(read(&log_volumes, day), read(&returns, day))),
            highs: pack(&|day| series.high(day)),
            amounts: pack(&|day| series.amount(day)),
            returns: pack(&|day| read(&returns, day)),
        }
    }
}
