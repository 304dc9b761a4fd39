//! Statistics of calendar periods, by the days of the rows alone.

use super::node::{Period, Reduction};
use crate::bars::PanelDay;
use crate::casts::{finite, float};
use std::collections::BTreeMap;

fn period_of(day: PanelDay, period: Period) -> i32 {
    match period {
        Period::Week => day.week(),
        Period::Month => day.month(),
    }
}

/// A reduction of cells, first to last; missing of none, and where one that counts is missing.
fn reduced(cells: &[f64], kind: Reduction) -> f64 {
    // `f64::max` would pass over a missing one
    let gap = cells.iter().any(|cell| cell.is_nan());
    let folded = |of: fn(f64, f64) -> f64| {
        let all = cells.iter().copied().reduce(of).filter(|_| !gap);
        all.unwrap_or(f64::NAN)
    };
    finite(match kind {
        Reduction::First => cells.first().copied().unwrap_or(f64::NAN),
        Reduction::Last => cells.last().copied().unwrap_or(f64::NAN),
        Reduction::Max => folded(f64::max),
        Reduction::Min => folded(f64::min),
        Reduction::Sum => folded(|sum, cell| sum + cell),
        Reduction::Mean => folded(|sum, cell| sum + cell) / float(cells.len()),
    })
}

/// A reduction of the last completed period that has rows.
pub(super) fn past_period(series: &[f64], days: &[PanelDay], period: Period, kind: Reduction) -> Vec<f64> {
    let mut current: Option<i32> = None;
    let mut of_period = Vec::new();
    let mut completed = f64::NAN;
    let cells = series.iter().zip(days).map(|(cell, day)| {
        let now = period_of(*day, period);
        if current.is_some_and(|known| known != now) {
            completed = reduced(&of_period, kind);
            of_period.clear();
        }
        current = Some(now);
        of_period.push(*cell);
        completed
    });
    cells.collect()
}

/// A reduction of this period's rows up to now; missing ones are skipped.
pub(super) fn period_so_far(series: &[f64], days: &[PanelDay], period: Period, kind: Reduction) -> Vec<f64> {
    let mut current: Option<i32> = None;
    let mut of_period = Vec::new();
    let cells = series.iter().zip(days).map(|(cell, day)| {
        let now = period_of(*day, period);
        if current != Some(now) {
            of_period.clear();
        }
        current = Some(now);
        if !cell.is_nan() {
            of_period.push(*cell);
        }
        reduced(&of_period, kind)
    });
    cells.collect()
}

/// The mean over earlier rows of the same weekday, of at least `least` of them.
pub(super) fn same_weekday(series: &[f64], days: &[PanelDay], least: usize) -> Vec<f64> {
    let mut known: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
    let cells = series.iter().zip(days).map(|(cell, day)| {
        let (count, sum) = known.entry(day.weekday()).or_default();
        let mean = if *count < least {
            f64::NAN
        } else {
            *sum / float(*count)
        };
        if !cell.is_nan() {
            *count += 1;
            *sum += cell;
        }
        finite(mean)
    });
    cells.collect()
}
