//! The fee of one order: the paper's flat rates, or commission, stamp duty and transfer fee of the day.

use super::order::Side;
use super::rules::{FeeRule, Rules};
use crate::as_of::AsOf;
use crate::day::TradeDate;
use crate::market::{DayIndex, NameId};
use crate::money::{AmountTooLarge, Fen, Price, Shares, divide_half_up};
use crate::ticker::Venue;

/// Ten-millionths of value: a basis point is 1,000 of them.
const WHOLE: i128 = 10_000_000;
const PER_BASIS_POINT: i64 = 1_000;

/// A trade as its fee depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChargedTrade {
    /// Buy or sell.
    pub side: Side,
    /// Shares traded.
    pub shares: Shares,
    /// Price x shares.
    pub value: Fen,
    /// Where it trades.
    pub venue: Venue,
    /// The trading day.
    pub date: TradeDate,
}

impl ChargedTrade {
    /// A trade at the open after the as-of day, at a price known on it.
    ///
    /// # Errors
    /// [`AmountTooLarge`] for a value that no account counts.
    pub fn of_next_day(
        as_of: &AsOf<'_>,
        name: NameId,
        side: Side,
        shares: Shares,
        price: Price,
    ) -> Result<Self, AmountTooLarge> {
        let market = as_of.market();
        let next = DayIndex::from_slot(as_of.day().index().saturating_add(1));
        let date = market.date(next).or_else(|| market.calendar().last().copied());
        Ok(Self {
            side,
            shares,
            value: price.times(shares)?,
            venue: market.venue(name),
            date: date.unwrap_or_else(TradeDate::earliest),
        })
    }
}

/// The fee of one order (docs/spec/exchange.md#fees).
///
/// # Errors
/// [`AmountTooLarge`] for a fee that no account counts.
pub fn fee(rules: &Rules, trade: &ChargedTrade) -> Result<Fen, AmountTooLarge> {
    let (tenth_bps, further) = match (rules.fees, trade.side) {
        (FeeRule::Paper, Side::Buy) => (rules.buy_bps.saturating_mul(10), Fen::ZERO),
        (FeeRule::Paper, Side::Sell) => (rules.sell_bps.saturating_mul(10), Fen::ZERO),
        (FeeRule::Dated, Side::Buy | Side::Sell) => {
            let duty = part(
                trade.value,
                i64::from(stamp_duty_bps(trade.side, trade.date)) * PER_BASIS_POINT,
            )?;
            (rules.commission_tenth_bps, duty.plus(transfer_fee(trade)?)?)
        }
    };
    let rated = part(trade.value, i64::from(tenth_bps) * (PER_BASIS_POINT / 10))?;
    rated.max(rules.min_fee).plus(further)
}

/// What a trade of a day costs as a share of its value, without least fees: for accounts without lots and fen.
#[must_use]
pub fn fee_rate(rules: &Rules, side: Side, date: TradeDate) -> f64 {
    let (tenth_bps, transfer) = match (rules.fees, side) {
        (FeeRule::Paper, Side::Buy) => (rules.buy_bps.saturating_mul(10), 0),
        (FeeRule::Paper, Side::Sell) => (rules.sell_bps.saturating_mul(10), 0),
        (FeeRule::Dated, Side::Buy | Side::Sell) => (
            rules
                .commission_tenth_bps
                .saturating_add(stamp_duty_bps(side, date) * 10),
            transfer_rate(Venue::Shenzhen, date).unwrap_or(0),
        ),
    };
    f64::from(tenth_bps) / 1e5 + f64::from(transfer) / 1e7
}

/// So many ten-millionths of a value, half-up to a fen.
fn part(value: Fen, ten_millionths: i64) -> Result<Fen, AmountTooLarge> {
    divide_half_up(i128::from(value.0) * i128::from(ten_millionths), WHOLE).map(Fen)
}

/// First day of a rate of stamp duty, and the rate on buys and on sells, basis points.
type StampDutyStep = (TradeDate, u32, u32);

/// Stamp duty on trades of A shares, oldest step first; the first one stands for all days before the second.
const STAMP_DUTY: [StampDutyStep; 9] = [
    (TradeDate::earliest(), 30, 30),
    (TradeDate::of(1997, 5, 10), 50, 50),
    (TradeDate::of(1998, 6, 12), 40, 40),
    (TradeDate::of(2001, 11, 16), 20, 20),
    (TradeDate::of(2005, 1, 24), 10, 10),
    (TradeDate::of(2007, 5, 30), 30, 30),
    (TradeDate::of(2008, 4, 24), 10, 10),
    (TradeDate::of(2008, 9, 19), 0, 10),
    (TradeDate::of(2023, 8, 28), 0, 5),
];

fn stamp_duty_bps(side: Side, date: TradeDate) -> u32 {
    let step = STAMP_DUTY.iter().rev().find(|(from, ..)| *from <= date);
    step.map_or(0, |(_, buy, sell)| match side {
        Side::Buy => *buy,
        Side::Sell => *sell,
    })
}

/// An exchange, the first day of a transfer fee, and the fee in ten-millionths of value on each side of a trade; `None` where it
/// is charged on face value.
type TransferStep = (Venue, TradeDate, Option<u32>);

/// Transfer fees, oldest step of an exchange first.
const TRANSFER_FEE: [TransferStep; 8] = [
    (Venue::Shanghai, TradeDate::earliest(), None),
    (Venue::Shanghai, TradeDate::of(2015, 8, 1), Some(200)),
    (Venue::Shanghai, TradeDate::of(2022, 4, 29), Some(100)),
    (Venue::Shenzhen, TradeDate::earliest(), Some(255)),
    (Venue::Shenzhen, TradeDate::of(2015, 8, 1), Some(200)),
    (Venue::Shenzhen, TradeDate::of(2022, 4, 29), Some(100)),
    (Venue::Beijing, TradeDate::earliest(), Some(250)),
    (Venue::Beijing, TradeDate::of(2022, 4, 29), Some(100)),
];

fn transfer_rate(venue: Venue, date: TradeDate) -> Option<u32> {
    let holds = |(of, from, _): &&TransferStep| *of == venue && *from <= date;
    let step = TRANSFER_FEE.iter().rev().find(holds);
    step.and_then(|(.., rate)| *rate)
}

fn transfer_fee(trade: &ChargedTrade) -> Result<Fen, AmountTooLarge> {
    transfer_rate(trade.venue, trade.date).map_or_else(
        // 0.3 per mille of a face value of CNY 1 a share.
        || divide_half_up(i128::from(trade.shares.0) * 3, 100).map(Fen),
        |rate| part(trade.value, i64::from(rate)),
    )
}
