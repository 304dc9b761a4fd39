//! The fee of one order.

use super::order::Side;
use super::rules::Rules;
use crate::money::{Fen, divide_half_up};

const BASIS: i128 = 10_000;

/// The fee of one order: `max(half-up(value x bps / 10000), least fee)` (docs/spec/exchange.md#open).
#[must_use]
pub fn fee(rules: &Rules, side: Side, value: Fen) -> Fen {
    let bps = match side {
        Side::Buy => rules.buy_bps,
        Side::Sell => rules.sell_bps,
    };
    let by_value = divide_half_up(i128::from(value.0).saturating_mul(i128::from(bps)), BASIS);
    Fen(by_value.max(rules.min_fee.0))
}
