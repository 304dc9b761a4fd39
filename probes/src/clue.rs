//! What a payload says, in the terms of the database.

use crate::column::{Column, DayColumn};
use crate::database::Database;
use ktd_masking::{BAND_NOISE, band_cut, band_score};
use pulp::{Arch, NullaryFnOnce};
use std::ops::Range;

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
    /// The day whose number is taken off.
    pub(crate) minus: Option<i64>,
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

    /// What a noised band of -1, 0 or 1 says of a percentile: twice the negative logarithm of how likely it is shown, up to
    /// what is the same for all, as the parabola through its values at both ends and in the middle.
    pub(crate) fn band(shown: f64) -> Self {
        let share = |percentile: f64| {
            let (cut, own) = (band_cut(), band_score(percentile / 100.0));
            let below = |edge: f64| normal_below((edge - own) / BAND_NOISE);
            let likely = if shown > 0.5 {
                1.0 - below(cut)
            } else if shown < -0.5 {
                below(-cut)
            } else {
                below(cut) - below(-cut)
            };
            -2.0 * libm::log(likely)
        };
        let (low, middle, high) = (share(0.0), share(50.0), share(100.0));
        // Costs at -1, 0 and 1: a x^2 + b x + c, with x = (percentile - 50) / 50.
        let (square, slope) = (low.midpoint(high) - middle, (high - low) / 2.0);
        Self {
            middle: narrow(50.0 - 50.0 * slope / (2.0 * square)),
            half: 0.0,
            per_unit: narrow(square.sqrt() / 50.0),
            most: MOST,
        }
    }

    /// The cost of a value; a missing one costs most.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
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

/// The share of a standard normal variable below a value.
fn normal_below(value: f64) -> f64 {
    libm::erfc(-value * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

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
                let number = |by: i64| {
                    let value = shifted(day, by).and_then(|day| column.get(day));
                    value.copied().unwrap_or(f32::NAN)
                };
                let value = number(clue.at) - clue.minus.map_or(0.0, number);
                *cost += clue.bounds.cost(value);
            }
        }
        let Some(rows) = anchor.and_then(|place| database.names.get(place)) else {
            return costs;
        };
        let mut of_anchor = vec![0.0; rows.span.len()];
        let span = (&rows.span, &rows.span);
        add_costs(&self.anchor, database, span, f32::INFINITY, &mut of_anchor);
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

/// Adds what each of `rows`, which belong to the stock of `all`, costs by these clues. Stops as soon as every row costs
/// more than `enough`: what is there then is less than the whole, and too much all the same.
pub(crate) fn add_costs(
    clues: &[Clue],
    database: &Database,
    (rows, all): (&Range<usize>, &Range<usize>),
    enough: f32,
    costs: &mut [f32],
) {
    for some in clues.chunks(CLUES_A_LOOK) {
        for clue in some {
            clue.add(database.column(clue.column), rows, all, costs);
        }
        if enough < least(costs) {
            return;
        }
    }
}

/// The least of costs, which are never negative and never NaN: their bits are in their own order, and whole numbers are
/// compared many at a time.
pub(crate) fn least(costs: &[f32]) -> f32 {
    f32::from_bits(Arch::new().dispatch(Least(costs)))
}

struct Least<'a>(&'a [f32]);

impl NullaryFnOnce for Least<'_> {
    type Output = u32;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) -> u32 {
        self.0
            .iter()
            .fold(f32::INFINITY.to_bits(), |least, cost| least.min(cost.to_bits()))
    }
}

/// Clues between two looks at whether it is enough.
const CLUES_A_LOOK: usize = 6;

impl Clue {
    fn add(&self, column: &[f32], rows: &Range<usize>, all: &Range<usize>, costs: &mut [f32]) {
        let least = self.at.min(self.minus.unwrap_or(self.at));
        let most = self.at.max(self.minus.unwrap_or(self.at));
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
            *cost += self.bounds.most;
        }
        let slice = |by: i64| {
            let start = shifted(from, by)?;
            column.get(start..start + (until - from))
        };
        let bounds = self.bounds;
        match (slice(self.at), self.minus.map(slice)) {
            (Some(values), None) => Arch::new().dispatch(AddValues {
                bounds,
                values,
                within,
            }),
            (Some(values), Some(Some(others))) => Arch::new().dispatch(AddDifferences {
                bounds,
                values,
                others,
                within,
            }),
            (None, _) | (Some(_), Some(None)) => {
                for cost in within {
                    *cost += bounds.most;
                }
            }
        }
    }
}

/// The inner loop over single rows, in a copy for each width of vectors. No product is fused with a sum, so that every
/// copy gives the same bits.
struct AddValues<'a> {
    bounds: Bounds,
    values: &'a [f32],
    within: &'a mut [f32],
}

impl NullaryFnOnce for AddValues<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        for (cost, value) in self.within.iter_mut().zip(self.values) {
            *cost += self.bounds.cost(*value);
        }
    }
}

/// The same over the differences of two rows.
struct AddDifferences<'a> {
    bounds: Bounds,
    values: &'a [f32],
    others: &'a [f32],
    within: &'a mut [f32],
}

impl NullaryFnOnce for AddDifferences<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let pairs = self.values.iter().zip(self.others);
        for (cost, (value, other)) in self.within.iter_mut().zip(pairs) {
            *cost += self.bounds.cost(value - other);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "seven digits tell stocks apart")]
const fn narrow(value: f64) -> f32 {
    value as f32
}
