//! Statistics of full windows of one series.

use super::moments::{kurtosis, mean, skew, variance};
use super::operator::{LineStatistic, Statistic};
use super::ordered::{median_deviations, medians, ranks, time_rank};
use super::spread_divisor::SpreadDivisor;
use super::windows::{Window, last_rows, of_windows, sum_of, sum_of_pairs};
use crate::casts::{equal, float};

/// A statistic of each full window of `rows` cells.
pub(super) fn rolling(statistic: Statistic, series: &[f64], rows: usize, divisor: SpreadDivisor) -> Vec<f64> {
    let each = |of: &dyn Fn(Window<'_>) -> f64| of_windows(series, rows, of);
    match statistic {
        Statistic::Sum => of_windows(series, rows, |window| sum_of(window.cells, |cell| cell)),
        Statistic::Mean => of_windows(series, rows, mean),
        Statistic::Variance => of_windows(series, rows, |window| variance(window, divisor)),
        Statistic::Deviation => of_windows(series, rows, |window| variance(window, divisor).sqrt()),
        Statistic::Max => extremes(series, rows, |new, best| best <= new, true),
        Statistic::Min => extremes(series, rows, |new, best| new <= best, true),
        Statistic::DaysSinceMax => extremes(series, rows, |new, best| best <= new, false),
        Statistic::DaysSinceMin => extremes(series, rows, |new, best| new <= best, false),
        Statistic::Median => medians(series, rows),
        Statistic::MedianDeviation => median_deviations(series, rows),
        Statistic::Rank => ranks(series, rows),
        Statistic::Count => {
            each(&|window| sum_of(window.cells, |cell| if equal(cell, 0.0) { 0.0 } else { 1.0 }))
        }
        Statistic::MeanDeviation => each(&|window| {
            let centre = mean(window);
            sum_of(window.cells, |cell| (cell - centre).abs()) / float(rows)
        }),
        Statistic::Skew => each(&|window| skew(window, divisor)),
        Statistic::Kurtosis => each(&|window| kurtosis(window, divisor)),
        Statistic::Line(kind) => lines(kind, series, rows),
        Statistic::LinearMean => {
            let weights: Vec<f64> = (1..=rows).map(float).collect();
            let total = float(rows) * (float(rows) + 1.0) / 2.0;
            each(&|window| sum_of_pairs(window.cells, &weights, |cell, weight| cell * weight) / total)
        }
        Statistic::Curve => curves(series, rows),
        Statistic::MaxDrawdown => each(&|window| max_drawdown(window.cells)),
        Statistic::TimeRank => each(&|window| time_rank(window)),
    }
}

/// A weighted sum of the last rows, weight 0 on today.
pub(super) fn weighted(series: &[f64], weights: &[f64]) -> Vec<f64> {
    let oldest_first: Vec<f64> = weights.iter().rev().copied().collect();
    of_windows(series, weights.len(), |window| {
        sum_of_pairs(window.cells, &oldest_first, |cell, weight| cell * weight)
    })
}

/// The extreme of each full window, or the rows since its latest occurrence. It is kept while it stays in the window.
fn extremes(
    series: &[f64],
    rows: usize,
    takes_over: impl Fn(f64, f64) -> bool + Copy,
    value_wanted: bool,
) -> Vec<f64> {
    let mut present = 0_usize;
    let mut best: Option<(usize, f64)> = None;
    let cells = series.iter().enumerate().map(|(row, cell)| {
        if cell.is_nan() {
            (present, best) = (0, None);
            return f64::NAN;
        }
        present += 1;
        best = match best {
            Some((place, value)) if row < place + rows && !takes_over(*cell, value) => Some((place, value)),
            Some((place, _)) if place + rows <= row => latest_extreme(series, row, rows, takes_over),
            _ => Some((row, *cell)),
        };
        match best {
            Some((_, value)) if rows <= present && value_wanted => value,
            Some((place, _)) if rows <= present => float(row - place),
            _ => f64::NAN,
        }
    });
    cells.collect()
}

fn latest_extreme(
    series: &[f64],
    row: usize,
    rows: usize,
    takes_over: impl Fn(f64, f64) -> bool,
) -> Option<(usize, f64)> {
    let start = (row + 1).saturating_sub(rows);
    let mut best: Option<(usize, f64)> = None;
    for (place, cell) in (start..).zip(last_rows(series, row, rows)) {
        if best.is_none_or(|(_, value)| takes_over(*cell, value)) {
            best = Some((place, *cell));
        }
    }
    best
}

/// Least squares on 0, 1, .. of each full window; the middle of time is subtracted first.
fn lines(statistic: LineStatistic, series: &[f64], rows: usize) -> Vec<f64> {
    let middle = (float(rows) - 1.0) / 2.0;
    let times: Vec<f64> = (0..rows).map(|place| float(place) - middle).collect();
    let squares = sum_of(&times, |time| time * time);
    of_windows(series, rows, |window| {
        let centre = mean(window);
        let products = if window.constant {
            0.0
        } else {
            sum_of_pairs(&times, window.cells, |time, cell| time * (cell - centre))
        };
        let slope = products / squares;
        let residual = |time: f64, cell: f64| cell - centre - slope * time;
        match statistic {
            LineStatistic::Residual => match (times.last(), window.cells.last()) {
                (Some(time), Some(cell)) => residual(*time, *cell),
                _ => f64::NAN,
            },
            LineStatistic::ResidualError => {
                let left = sum_of_pairs(&times, window.cells, |time, cell| {
                    residual(time, cell) * residual(time, cell)
                });
                if window.constant {
                    0.0
                } else {
                    (left / (float(rows) - 2.0)).sqrt()
                }
            }
            LineStatistic::RSquared if window.constant => f64::NAN,
            LineStatistic::RSquared => {
                let spread = sum_of(window.cells, |cell| (cell - centre) * (cell - centre));
                products * products / (squares * spread)
            }
            LineStatistic::Slope => slope,
        }
    })
}

/// The quadratic coefficient of a parabola through each full window.
fn curves(series: &[f64], rows: usize) -> Vec<f64> {
    let middle = (float(rows) - 1.0) / 2.0;
    let squares: Vec<f64> = (0..rows)
        .map(|place| (float(place) - middle) * (float(place) - middle))
        .collect();
    let centre = sum_of(&squares, |square| square) / float(rows);
    let shape: Vec<f64> = squares.iter().map(|square| square - centre).collect();
    let scale = sum_of(&shape, |part| part * part);
    of_windows(series, rows, |window| {
        let level = mean(window);
        sum_of_pairs(&shape, window.cells, |part, cell| part * (cell - level)) / scale
    })
}

/// The deepest fall from a running peak, as a share of the peak.
fn max_drawdown(cells: &[f64]) -> f64 {
    let mut peak = f64::NEG_INFINITY;
    let mut deepest = 0.0;
    for cell in cells {
        peak = cell.max(peak);
        let fall = 1.0 - cell / peak;
        if deepest < fall {
            deepest = fall;
        }
    }
    deepest
}
