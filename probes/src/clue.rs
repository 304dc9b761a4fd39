//! What a payload says, in the terms of the database.

use crate::column::{Column, DayColumn};
use crate::database::Database;
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

    /// What a group says: this one and no other.
    pub(crate) fn group(group: usize) -> Self {
        Self {
            middle: narrow(f64::from(u32::try_from(group).unwrap_or(u32::MAX))),
            half: 0.4,
            per_unit: 1e3,
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

/// All that one attacker reads in one exhibit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Clues {
    pub(crate) stock: Vec<Clue>,
    /// Of a stock that was given away.
    pub(crate) anchor: Vec<Clue>,
    /// Of the stocks that were given away besides it: place in the database, clues.
    pub(crate) known: Vec<(usize, Vec<Clue>)>,
    pub(crate) days: Vec<DayClue>,
    /// Weights after plans of the target.
    pub(crate) lots: Vec<LotClue>,
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
        let first = anchor.map(|place| (place, &self.anchor));
        let others = self.known.iter().map(|(place, clues)| (*place, clues));
        for (place, clues) in first.into_iter().chain(others) {
            add_known(database, place, clues, &mut costs);
        }
        costs
    }
}

/// Adds what a stock that is known says of each day of the calendar.
fn add_known(database: &Database, place: usize, clues: &[Clue], costs: &mut [f32]) {
    let Some(rows) = database.names.get(place) else {
        return;
    };
    let mut of_stock = vec![0.0; rows.span.len()];
    let span = (&rows.span, &rows.span);
    add_costs(clues, database, span, f32::INFINITY, &mut of_stock);
    let missing: f32 = clues.iter().map(|clue| clue.bounds.most).sum();
    for (day, cost) in costs.iter_mut().enumerate() {
        let row = day
            .checked_sub(rows.first)
            .and_then(|within| of_stock.get(within));
        *cost += row.copied().unwrap_or(missing);
    }
}

/// What a plan says of the price of a stock that is not held: the weight that whole lots come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LotClue {
    /// Trading days from the row under test.
    pub(crate) at: i64,
    /// The weight asked for.
    pub(crate) target: f64,
    /// The weight of the whole lots below it.
    pub(crate) after: f64,
    /// How far the weight shown may lie from the true one.
    pub(crate) tolerance: f64,
    /// Net asset value in yuan.
    pub(crate) nav: f64,
}

/// Shares of a lot.
const LOT: f64 = 100.0;

impl LotClue {
    /// The cost of a price.
    fn cost(&self, price: f32) -> f32 {
        let lot = f64::from(price) * LOT / self.nav;
        if !lot.is_finite() || lot <= 0.0 {
            return MOST;
        }
        let after = libm::floor(self.target / lot) * lot;
        let outside = ((after - self.after).abs() / self.tolerance - 1.0).max(0.0);
        narrow(outside * outside).min(MOST)
    }

    /// Adds what each of `rows`, which belong to the stock of `all`, costs.
    pub(crate) fn add(
        &self,
        database: &Database,
        (rows, all): (&Range<usize>, &Range<usize>),
        costs: &mut [f32],
    ) {
        let prices = database.column(Column::CloseYuan);
        for (row, cost) in rows.clone().zip(costs) {
            let price = shifted(row, self.at).filter(|row| all.contains(row));
            *cost += price
                .and_then(|row| prices.get(row))
                .map_or(MOST, |price| self.cost(*price));
        }
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
            .unwrap_or(rows.start)
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

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "what costs nothing or most does so exactly")]
mod tests {
    use super::*;
    use crate::database::hand_made::{Stock, database};
    use ktd_env::{Board, KeyedStream};

    fn clue(at: i64, minus: Option<i64>, value: f64) -> Clue {
        Clue {
            column: Column::LnClose,
            at,
            minus,
            bounds: Bounds::around(value, 0.1),
        }
    }

    /// Two stocks of five rows each, the second listed two days later.
    fn two_stocks() -> Database {
        let stock = |first, values| Stock {
            board: Board::Main,
            sector: None,
            first,
            values,
        };
        database(
            20,
            &[
                stock(0, &[1.0, 2.0, 3.0, 4.0, 5.0]),
                stock(2, &[1.0, 2.0, f32::NAN, 2.0, 3.0]),
            ],
        )
    }

    fn costs(clues: &[Clue], rows: Range<usize>, all: Range<usize>) -> Vec<f32> {
        let mut costs = vec![0.0; rows.len()];
        add_costs(clues, &two_stocks(), (&rows, &all), f32::INFINITY, &mut costs);
        costs
    }

    #[test]
    fn inside_costs_nothing_and_outside_the_square() {
        let bounds = Bounds::around(10.0, 1.0);
        assert_eq!([9.0, 10.0, 11.0].map(|value| bounds.cost(value)), [0.0; 3]);
        // Two units beyond the edge, which lies one unit (and its margin) from the middle.
        let outside = bounds.cost(13.0);
        assert!((outside - 3.89).abs() < 0.05, "{outside}");
        assert_eq!([bounds.cost(7.0), bounds.cost(13.0)], [outside; 2]);
    }

    #[test]
    fn what_is_missing_costs_as_much_as_what_is_quite_another() {
        let bounds = Bounds::around(10.0, 1.0);
        for value in [1e9, -1e9, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!((bounds.cost(value) - MOST).abs() < 1e-6, "{value}");
        }
    }

    #[test]
    fn a_tolerance_of_nothing_still_spans_the_last_digit() {
        let bounds = Bounds::around(1234.567, 0.0);
        assert!(bounds.cost(1234.567) < 1e-6);
        assert!(bounds.cost(1235.0) > 15.0);
    }

    #[test]
    fn another_group_costs_most() {
        let bounds = Bounds::group(1);
        assert_eq!(
            [1.0, 0.0, 2.0, f32::NAN].map(|value| bounds.cost(value)),
            [0.0, MOST, MOST, MOST]
        );
    }

    #[test]
    fn rows_before_a_stock_begins_are_not_another_ones() {
        // Two days before: the second stock's first two rows have none, though the first stock's rows lie there.
        let second = costs(&[clue(-2, None, 1.0)], 5..10, 5..10);
        assert_eq!(second[..2], [MOST; 2]);
        assert!(second[2] < 1e-6, "{second:?}");
        assert!(
            (second[4] - MOST).abs() < 1e-6,
            "a row without a value: {second:?}"
        );
    }

    #[test]
    fn rows_after_a_stock_ends_are_not_another_ones() {
        let first = costs(&[clue(1, None, 5.0)], 0..5, 0..5);
        assert!(first[3] < 1e-6 && (first[4] - MOST).abs() < 1e-6, "{first:?}");
    }

    #[test]
    fn differences_need_both_ends() {
        let rises = costs(&[clue(0, Some(-1), 1.0)], 0..5, 0..5);
        assert_eq!(rises[0], MOST);
        assert!(rises[1..].iter().all(|cost| *cost < 1e-6), "{rises:?}");
        let rises = costs(&[clue(-1, Some(1), -2.0)], 0..5, 0..5);
        assert_eq!([rises[0], rises[4]], [MOST; 2]);
        assert!(rises[1..4].iter().all(|cost| *cost < 1e-6), "{rises:?}");
        let gap = costs(&[clue(0, Some(-1), 1.0)], 5..10, 5..10);
        assert_eq!(gap[2..4], [MOST; 2], "next to a row without a value");
        assert!(gap[4] < 1e-6);
    }

    #[test]
    fn a_part_of_the_rows_costs_what_it_does_among_all() {
        let clues = [clue(-1, None, 2.0), clue(0, Some(-2), 2.0), clue(1, None, 4.0)];
        let whole = costs(&clues, 0..5, 0..5);
        for (from, until) in [(0, 2), (1, 4), (3, 5), (2, 2)] {
            assert_eq!(costs(&clues, from..until, 0..5), whole[from..until]);
        }
    }

    #[test]
    fn a_look_far_beyond_the_panel_costs_most() {
        for at in [-1_000, 1_000] {
            assert_eq!(costs(&[clue(at, None, 1.0)], 0..5, 0..5), [MOST; 5]);
            assert_eq!(costs(&[clue(0, Some(at), 1.0)], 5..10, 5..10), [MOST; 5]);
        }
    }

    #[test]
    fn hopeless_rows_are_left_alone_after_a_look() {
        let clues = vec![clue(0, None, 100.0); 3 * CLUES_A_LOOK];
        let (rows, database) = (0..5, two_stocks());
        let cost = |enough: f32| {
            let mut costs = vec![0.0; 5];
            add_costs(&clues, &database, (&rows, &rows), enough, &mut costs);
            costs[0] / MOST
        };
        let look = f32::from(u8::try_from(CLUES_A_LOOK).unwrap());
        let looks = [look, 2.0 * look, 3.0 * look];
        assert!((cost(f32::INFINITY) - looks[2]).abs() < 1e-4);
        assert!((cost(0.0) - looks[0]).abs() < 1e-4);
        assert!(
            (cost(MOST * looks[0]) - looks[1]).abs() < 1e-4,
            "as much as enough goes on"
        );
    }

    #[test]
    fn least_is_the_minimum() {
        let mut stream = KeyedStream::for_purpose(1, "costs");
        for length in 0..70 {
            let costs: Vec<f32> = (0..length).map(|_| narrow(stream.uniform() * 1e4)).collect();
            let plain = costs.iter().copied().fold(f32::INFINITY, f32::min);
            assert_eq!(least(&costs).to_bits(), plain.to_bits(), "{costs:?}");
        }
        assert_eq!(least(&[3.0, 0.0, f32::INFINITY]).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn days_cost_what_the_market_and_a_known_stock_say() {
        let mut levels = vec![f32::NAN; 20];
        levels[3..6].copy_from_slice(&[10.0, 20.0, 30.0]);
        let database = two_stocks().with_day_column(DayColumn::IndexLevel, &levels);
        let clues = Clues {
            days: vec![DayClue {
                column: DayColumn::IndexLevel,
                at: -1,
                minus: None,
                bounds: Bounds::around(20.0, 0.1),
            }],
            anchor: vec![clue(0, None, 2.0)],
            ..Clues::default()
        };
        let days = clues.day_costs(&database, None);
        assert!(days[5] < 1e-6);
        assert_eq!([days[0], days[4], days[19]], [MOST; 3]);
        // The second stock, listed on day 2, has the value on days 3 and 5.
        let days = clues.day_costs(&database, Some(1));
        assert!(days[5] < 1e-6, "{days:?}");
        assert_eq!([days[3], days[0], days[7]], [MOST, 2.0 * MOST, 2.0 * MOST]);
    }
}
