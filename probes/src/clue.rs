//! What a payload says, in the terms of the database.

use crate::column::{Column, DayColumn};
use crate::database::Database;

/// One number of a stock: the row at `at` days from the row under test, or its difference to the row at `minus`, lies
/// within `low..=high`. Outside it costs the squared distance in units of `unit`, at most `most`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clue {
    pub(crate) column: Column,
    pub(crate) at: i64,
    pub(crate) minus: Option<i64>,
    pub(crate) bounds: Bounds,
}

/// One number of the market on a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DayClue {
    pub(crate) column: DayColumn,
    pub(crate) at: i64,
    pub(crate) bounds: Bounds,
}

/// An interval with the price of lying outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    middle: f32,
    half: f32,
    per_unit: f32,
    most: f32,
}

impl Bounds {
    /// What a number that was rounded says: within `tolerance`, which is also the unit of what lies outside.
    pub(crate) fn around(value: f64, tolerance: f64) -> Self {
        // Rows are f32, and a database may differ in the last digit.
        let tolerance = (tolerance * 1.01).max(value.abs() * 1e-6).max(1e-6);
        Self {
            middle: narrow(value),
            half: narrow(tolerance),
            per_unit: narrow(1.0 / tolerance),
            most: MOST,
        }
    }

    /// What a noised band of -1, 0 or 1 says of a percentile: as much as the public odds of the noise.
    pub(crate) fn band(shown: f64) -> Self {
        Self {
            middle: narrow(50.0 + shown * 100.0 / 3.0),
            half: narrow(100.0 / 6.0),
            per_unit: HARD,
            most: BAND_MOST,
        }
    }

    /// The cost of a value; a missing one costs most.
    #[inline]
    fn cost(self, value: f32) -> f32 {
        let outside = (value - self.middle).abs() - self.half;
        // NaN stays NaN through both, and so costs most.
        let outside = if outside < 0.0 {
            0.0
        } else {
            outside * self.per_unit
        };
        let cost = outside * outside;
        if cost < self.most { cost } else { self.most }
    }
}

/// Cost of a number that is quite another one: as much as four standard deviations.
const MOST: f32 = 16.0;

/// Units in which a hard edge is measured.
const HARD: f32 = 1e3;
/// Twice the logarithm of the odds that a shown band is the true one rather than a given other one.
const BAND_MOST: f32 = 2.77;

/// All that one attacker reads in one exhibit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Clues {
    pub(crate) stock: Vec<Clue>,
    /// Of a stock that was given away.
    pub(crate) anchor: Vec<Clue>,
    pub(crate) days: Vec<DayClue>,
    /// Stocks, as places in the order of the codes, one of which it should be; empty without a suspicion.
    pub(crate) suspects: Vec<usize>,
}

/// Cost of a stock that is not under a suspicion.
pub(crate) const UNSUSPECTED: f32 = 4.0 * MOST;

impl Clues {
    /// What each day of the calendar costs, before any stock is looked at: what the market's numbers say, and those of a
    /// stock that was given away (its place in the database).
    pub(crate) fn day_costs(&self, database: &Database, anchor: Option<usize>) -> Vec<f32> {
        let mut costs = vec![0.0; database.day_count()];
        for clue in &self.days {
            let column = database.day_column(clue.column);
            for (day, cost) in costs.iter_mut().enumerate() {
                let value = shifted(day, clue.at).and_then(|day| column.get(day)).copied();
                *cost += clue.bounds.cost(value.unwrap_or(f32::NAN));
            }
        }
        let Some(rows) = anchor.and_then(|place| database.names.get(place)) else {
            return costs;
        };
        let mut of_anchor = vec![0.0; rows.span.len()];
        add_costs(&self.anchor, database, &rows.span, &rows.span, &mut of_anchor);
        let missing: f32 = self.anchor.iter().map(|clue| clue.bounds.most).sum();
        for (day, cost) in costs.iter_mut().enumerate() {
            let row = day
                .checked_sub(rows.first)
                .and_then(|within| of_anchor.get(within));
            *cost += row.copied().unwrap_or(missing);
        }
        costs
    }
}

fn shifted(place: usize, by: i64) -> Option<usize> {
    usize::try_from(i64::try_from(place).ok()? + by).ok()
}

/// Adds what each of `rows`, which belong to the stock of `all`, costs by these clues.
pub(crate) fn add_costs(
    clues: &[Clue],
    database: &Database,
    rows: &std::ops::Range<usize>,
    all: &std::ops::Range<usize>,
    costs: &mut [f32],
) {
    for clue in clues {
        let column = database.column(clue.column);
        let least = clue.at.min(clue.minus.unwrap_or(clue.at));
        let most = clue.at.max(clue.minus.unwrap_or(clue.at));
        // Rows whose neighbours at both places are the same stock's.
        let from = shifted(all.start, -least)
            .unwrap_or(all.end)
            .clamp(rows.start, rows.end);
        let until = shifted(all.end, -most)
            .unwrap_or(rows.start)
            .clamp(from, rows.end);
        let (before, rest) = costs.split_at_mut(from - rows.start);
        let (within, after) = rest.split_at_mut(until - from);
        for cost in before.iter_mut().chain(after) {
            *cost += clue.bounds.most;
        }
        let slice = |by: i64| {
            let start = shifted(from, by)?;
            column.get(start..start + (until - from))
        };
        match (slice(clue.at), clue.minus.map(slice)) {
            (Some(values), None) => {
                for (cost, value) in within.iter_mut().zip(values) {
                    *cost += clue.bounds.cost(*value);
                }
            }
            (Some(values), Some(Some(others))) => {
                for ((cost, value), other) in within.iter_mut().zip(values).zip(others) {
                    *cost += clue.bounds.cost(value - other);
                }
            }
            (None, _) | (Some(_), Some(None)) => {
                for cost in within {
                    *cost += clue.bounds.most;
                }
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "seven digits tell stocks apart")]
const fn narrow(value: f64) -> f32 {
    value as f32
}
