//! Round lots: which share counts an order may have.

use super::order::Side;
use crate::ticker::Board;

/// Round lot of the main boards and ChiNext.
const LOT: i64 = 100;
const STAR_MINIMUM: i64 = 200;
const BSE_MINIMUM: i64 = 100;

/// The least and the step of a buy on a board, in shares.
pub(super) const fn buy_grid(board: Board) -> (i64, i64) {
    match board {
        Board::Main | Board::ChiNext => (LOT, LOT),
        Board::Star => (STAR_MINIMUM, 1),
        Board::Bse => (BSE_MINIMUM, 1),
    }
}

/// A desired holding cut down to the board's grid.
pub(super) const fn cut_to_grid(board: Board, shares: i64) -> i64 {
    let (least, step) = buy_grid(board);
    if shares < least { 0 } else { shares - shares % step }
}

/// Whether a quantity is on the grid; a sell may also carry the whole odd remainder.
pub(super) const fn is_on_grid(board: Board, side: Side, quantity: i64, held: i64) -> bool {
    match (board, side) {
        (Board::Main | Board::ChiNext, Side::Buy) => quantity % LOT == 0,
        (Board::Main | Board::ChiNext, Side::Sell) => quantity % LOT == 0 || (held - quantity) % LOT == 0,
        (Board::Star, Side::Buy) => quantity >= STAR_MINIMUM,
        (Board::Star, Side::Sell) => quantity >= STAR_MINIMUM || quantity == held,
        (Board::Bse, Side::Buy) => quantity >= BSE_MINIMUM,
        (Board::Bse, Side::Sell) => quantity >= BSE_MINIMUM || quantity == held,
    }
}

/// The largest count on the grid that is not above `wanted`; 0 when there is none.
pub(super) fn cut_quantity(board: Board, side: Side, wanted: i64, held: i64) -> i64 {
    match side {
        Side::Buy => cut_to_grid(board, wanted),
        // At most a lot of counts lies between two that are on the grid.
        Side::Sell => (wanted.saturating_sub(LOT).max(0)..=wanted)
            .rev()
            .find(|&count| 0 < count && is_on_grid(board, side, count, held))
            .unwrap_or(0),
    }
}

/// The largest legal buy of at most `wanted` shares that `affordable` accepts; 0 when there is none.
///
/// `affordable` must be monotone: what it accepts at a count it accepts at every smaller one.
pub(super) fn largest_affordable(board: Board, wanted: i64, affordable: impl Fn(i64) -> bool) -> i64 {
    let (least, step) = buy_grid(board);
    if wanted < least || !affordable(least) {
        return 0;
    }
    // Counts are least + k x step; find the last affordable k. Most orders are affordable as they are.
    let (mut low, mut high) = (0, (wanted - least) / step);
    if affordable(least + high * step) {
        return least + high * step;
    }
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if affordable(least + middle * step) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    least + low * step
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every count near the edges on every board, against the sentences of docs/spec/exchange.md, rule 13.
    #[test]
    fn exhaustive_small_grid() {
        for held in 0..=450_i64 {
            for quantity in 1..=held.max(450) {
                let lot = quantity % 100 == 0;
                let contains_odd_part = (held - quantity).rem_euclid(100) == 0;
                let cases = [
                    (Board::Main, lot, lot || contains_odd_part),
                    (Board::ChiNext, lot, lot || contains_odd_part),
                    (Board::Star, quantity >= 200, quantity >= 200 || quantity == held),
                    (Board::Bse, quantity >= 100, quantity >= 100 || quantity == held),
                ];
                for (board, buy, sell) in cases {
                    assert_eq!(is_on_grid(board, Side::Buy, quantity, held), buy);
                    if quantity <= held {
                        assert_eq!(is_on_grid(board, Side::Sell, quantity, held), sell);
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_affordable_buy_is_found_by_search_as_by_count() {
        for board in Board::ALL {
            for wanted in [0, 99, 100, 199, 200, 201, 300, 777, 1000] {
                for cap in 0..=1100_i64 {
                    let legal = (1..=wanted).filter(|&q| is_on_grid(board, Side::Buy, q, 0) && q <= cap);
                    assert_eq!(
                        largest_affordable(board, wanted, |q| q <= cap),
                        legal.max().unwrap_or(0)
                    );
                }
            }
        }
    }
}
