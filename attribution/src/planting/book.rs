//! The days of a planted account: fractions of shares, traded at the open, without fees.

use super::market::{PlantedDay, PlantedDraw};
use crate::account::{DayBook, HeldName};
use std::collections::BTreeMap;

/// The NAV before the first day, CNY.
const NAV_CNY: f64 = 1e6;

/// What an account chooses for a day.
pub(super) struct Choice {
    /// Rows that it holds in equal weights; none keeps what is held.
    pub(super) rows: Vec<usize>,
    /// The share of the account that they are.
    pub(super) invested: f64,
}

/// The books of an account that holds what it chooses.
pub(super) fn books(draw: &PlantedDraw, first_day: usize, choices: &[Choice]) -> Vec<DayBook> {
    let mut nav = NAV_CNY;
    // Values at the last close, by row.
    let mut held: BTreeMap<usize, f64> = BTreeMap::new();
    let mut books = Vec::with_capacity(draw.days.len());
    for (place, (day, chosen)) in draw.days.iter().zip(choices).enumerate() {
        let before = std::mem::take(&mut held);
        let after = if chosen.rows.is_empty() {
            before.clone()
        } else {
            rebalanced(day, nav, &before, chosen)
        };
        let night: f64 = before
            .iter()
            .map(|(row, value)| value * day.returns_of(*row).1)
            .sum();
        let by_day = |(row, value): (&usize, &f64)| {
            let (whole, overnight) = day.returns_of(*row);
            value * (whole - overnight)
        };
        let closing = nav + night + after.iter().map(by_day).sum::<f64>();
        held = after
            .iter()
            .map(|(row, value)| (*row, value * (1.0 + day.returns_of(*row).0)))
            .collect();
        books.push(DayBook {
            day: first_day + place,
            nav_before_cny: nav,
            nav_after_cny: closing,
            held: joined(&before, &after),
            fees_cny: 0.0,
            slippage_cny: 0.0,
            corporate_cny: 0.0,
            unmarked_cny: 0.0,
        });
        nav = closing;
    }
    books
}

/// Equal values at the open, told at the mark of the day before.
fn rebalanced(
    day: &PlantedDay,
    nav: f64,
    before: &BTreeMap<usize, f64>,
    chosen: &Choice,
) -> BTreeMap<usize, f64> {
    let night: f64 = before
        .iter()
        .map(|(row, value)| value * day.returns_of(*row).1)
        .sum();
    let names = f64::from(u32::try_from(chosen.rows.len().max(1)).unwrap_or(u32::MAX));
    let each = chosen.invested * (nav + night) / names;
    chosen
        .rows
        .iter()
        .map(|row| (*row, each / (1.0 + day.returns_of(*row).1)))
        .collect()
}

fn joined(before: &BTreeMap<usize, f64>, after: &BTreeMap<usize, f64>) -> Vec<HeldName> {
    let mut rows: BTreeMap<usize, (f64, f64)> =
        before.iter().map(|(row, value)| (*row, (*value, 0.0))).collect();
    for (row, value) in after {
        rows.entry(*row).or_default().1 = *value;
    }
    let held = rows.into_iter().map(|(row, (before_cny, after_cny))| HeldName {
        row,
        before_cny,
        after_cny,
    });
    held.collect()
}
