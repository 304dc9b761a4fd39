//! Synthetic bars of scenarios and long runs, drawn from a keyed stream.

use crate::bars::{AssetBars, BarTime};
use chrono::{Datelike, Days, NaiveDate, Weekday};
use ktd_env::KeyedStream;
use serde::Deserialize;

/// Stretch of a price path: bars, drift a bar, deviation a bar, both of the logarithm.
pub(super) type Stretch = (usize, f64, f64);

/// Price that every path begins at.
const START: f64 = 100.0;
/// Price that the first leg of a pair begins at.
const PAIR_START: f64 = 80.0;
/// Deviation a bar of the second leg of a pair.
const LEG_DEVIATION: f64 = 0.012;
/// First day of all synthetic bars.
const FIRST_DAY: (i32, u32, u32) = (2021, 1, 4);
/// Ends of the bars of an intraday session.
const SESSION_STAMPS: [&str; 16] = [
    "09:45", "10:00", "10:15", "10:30", "10:45", "11:00", "11:15", "11:30", "13:15", "13:30", "13:45",
    "14:00", "14:15", "14:30", "14:45", "15:00",
];

/// Bars of a session.
pub(super) const SESSION_BARS: usize = SESSION_STAMPS.len();

/// Business days from the first one on.
fn business_days(count: usize) -> Vec<NaiveDate> {
    let (year, month, day) = FIRST_DAY;
    let mut days = Vec::with_capacity(count);
    let mut next = NaiveDate::from_ymd_opt(year, month, day);
    while let Some(date) = next.filter(|_| days.len() < count) {
        if !matches!(date.weekday(), Weekday::Sat | Weekday::Sun) {
            days.push(date);
        }
        next = date.checked_add_days(Days::new(1));
    }
    days
}

/// Stamps of daily bars.
pub(super) fn daily_times(bars: usize) -> Vec<BarTime> {
    let days = business_days(bars).into_iter();
    days.filter_map(|day| BarTime::parse(&format!("{day}T00:00:00")))
        .collect()
}

/// Stamps of sessions of 15-minute bars.
pub(super) fn session_times(bars: usize) -> Vec<BarTime> {
    business_days(bars.div_ceil(SESSION_BARS))
        .into_iter()
        .flat_map(|day| SESSION_STAMPS.map(|stamp| BarTime::parse(&format!("{day}T{stamp}:00"))))
        .flatten()
        .take(bars)
        .collect()
}

/// A random walk of the logarithm over stretches.
pub(super) fn price_path(stream: &mut KeyedStream, stretches: &[Stretch]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut path = Vec::new();
    for (bars, drift, deviation) in stretches {
        for _ in 0..*bars {
            let step = if *deviation > 0.0 {
                deviation * stream.normal()
            } else {
                0.0
            };
            sum += drift + step;
            path.push(START * libm::exp(sum));
        }
    }
    path
}

/// How two legs hang together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairPlan {
    pub(super) bars: usize,
    /// What one of the logarithm of the second leg is worth in the first.
    pub(super) beta: f64,
    /// Bars in which half of a distance is gone.
    pub(super) half_life: f64,
    /// Deviation a bar of the distance.
    pub(super) noise: f64,
    /// Bars and sizes of jumps of the distance.
    pub(super) shocks: Vec<(usize, f64)>,
}

/// The closes of both legs: the second a random walk, the first on it with a distance that returns to 0.
pub(super) fn pair_paths(stream: &mut KeyedStream, plan: &PairPlan) -> (Vec<f64>, Vec<f64>) {
    let mut walk = 0.0;
    let walks: Vec<f64> = (0..plan.bars)
        .map(|_| {
            walk += LEG_DEVIATION * stream.normal();
            walk
        })
        .collect();
    let keeps = libm::exp(-std::f64::consts::LN_2 / plan.half_life);
    let mut distance = 0.0;
    let first = walks.iter().enumerate().map(|(bar, walk)| {
        let shock: f64 = plan
            .shocks
            .iter()
            .filter(|(at, _)| *at == bar)
            .map(|(_, size)| size)
            .sum();
        distance = keeps * distance + plan.noise * stream.normal() + shock;
        PAIR_START * libm::exp(plan.beta * walk + distance)
    });
    let first = first.collect();
    (first, walks.iter().map(|walk| START * libm::exp(*walk)).collect())
}

/// Bars around closes. `gap` is how far an open may lie from the close before, in moves of the bar.
pub(super) fn bars_around(
    stream: &mut KeyedStream,
    closes: &[f64],
    times: Vec<BarTime>,
    gap: f64,
) -> AssetBars {
    const WICK: f64 = 0.5;
    const LEAST_MOVE: f64 = 0.002;
    let mut bars = AssetBars {
        times,
        ..AssetBars::default()
    };
    let mut before = None;
    for close in closes.iter().copied().map(cents) {
        let last = before.unwrap_or(close);
        let moved = libm::log(close / last).abs() + LEAST_MOVE;
        let open = cents(last * libm::exp(gap * moved * stream.normal()));
        let mut wick = || libm::exp(WICK * moved * stream.normal().abs());
        let (above, below) = (wick(), wick());
        bars.open.push(open);
        bars.high.push(cents(open.max(close) * above));
        bars.low.push(cents(open.min(close) / below));
        bars.close.push(close);
        bars.volume.push(libm::exp(11.0 + 0.4 * stream.normal()).round());
        before = Some(close);
    }
    bars
}

fn cents(price: f64) -> f64 {
    (price * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weekends_are_left_out_and_bars_hold_their_closes() {
        let times = daily_times(6);
        assert_eq!(times.last().unwrap().day(), "2021-01-11");
        let session = session_times(17);
        assert_eq!((session[15].clock(), session[16].day()), ("15:00", "2021-01-05"));
        let mut stream = KeyedStream::for_purpose(1, "bars");
        let closes = price_path(&mut stream, &[(50, 0.001, 0.02)]);
        let bars = bars_around(&mut stream, &closes, daily_times(50), 0.3);
        for bar in 0..50 {
            let body = [bars.open[bar], bars.close[bar]];
            assert!(
                body.iter()
                    .all(|price| bars.low[bar] <= *price && *price <= bars.high[bar]),
                "bar {bar}"
            );
        }
    }
}
