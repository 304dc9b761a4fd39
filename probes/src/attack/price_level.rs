//! Knows what every stock cost on every day: a true price in yuan names few of them.

use super::senses::ParsedSnapshot;
use super::{DatabaseAttacker, Reading};
use crate::clue::{Bounds, Clue, Clues};
use crate::column::Column;
use ktd_masking::Numeric;

pub(crate) struct PriceLevel;

impl DatabaseAttacker for PriceLevel {
    fn name(&self) -> &'static str {
        "price-level"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        reading.both(|shown| {
            let of_one = |snapshot| match reading.numeric {
                Numeric::Exact => open_prices(snapshot),
                Numeric::Rescaled
                | Numeric::RoundedTenth
                | Numeric::RoundedHalf
                | Numeric::Ranked
                | Numeric::BandedFive
                | Numeric::Banded => slipped_prices(snapshot),
            };
            shown.iter().flat_map(of_one).collect()
        })
    }
}

/// A true price is on the grid of 0.01 yuan.
const TOLERANCE_YUAN: f64 = 0.005;

fn yuan(at: i64, price: f64) -> Clue {
    Clue {
        column: Column::CloseYuan,
        at,
        minus: None,
        bounds: Bounds::around(price, TOLERANCE_YUAN),
    }
}

/// Closes in terms of the as-of day's yuan; those before an ex-day differ from what was traded, and cost their most.
fn open_prices(snapshot: &ParsedSnapshot<'_>) -> Vec<Clue> {
    let closes = snapshot.stock.bars.iter().rev().take(10);
    let mut clues: Vec<Clue> = closes
        .filter_map(|bar| Some(yuan(snapshot.offset - bar.days_ago, bar.close?)))
        .collect();
    clues.extend(
        snapshot
            .stock
            .strangers
            .iter()
            .map(|price| yuan(snapshot.offset, *price)),
    );
    clues
}

/// Numbers that do not fit the points around them, as a price does that slipped through.
fn slipped_prices(snapshot: &ParsedSnapshot<'_>) -> Vec<Clue> {
    let stock = snapshot.stock;
    let mut clues: Vec<Clue> = stock
        .strangers
        .iter()
        .map(|price| yuan(snapshot.offset, *price))
        .collect();
    let mut newest = stock.bars.iter().rev();
    let (last, before) = (newest.next(), newest.next());
    if let Some(price) = stock.previous_close {
        let points = before.and_then(|bar| bar.close);
        if points.is_none_or(|points| TOLERANCE_YUAN < (points - price).abs()) {
            let at = before.map_or(1, |bar| bar.days_ago);
            clues.push(yuan(snapshot.offset - at, price));
        }
    }
    // A limit lies a fixed share above the last close: whichever share it is, points give a ratio near it.
    let ratio = stock
        .limit_up
        .zip(last.and_then(|bar| bar.close))
        .map(|(limit, close)| limit / close);
    if let Some(limit) = stock
        .limit_up
        .filter(|_| ratio.is_none_or(|ratio| !(1.04..1.21).contains(&ratio)))
    {
        clues.extend([1.1, 1.2].map(|rise| yuan(snapshot.offset, limit / rise)));
    }
    clues
}
