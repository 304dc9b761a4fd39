//! Reference prices and price limits.

use super::order::Side;
use super::rules::{LimitRounding, LimitRule, Rules};
use super::standing::{Standing, opens_delisting_period};
use crate::as_of::AsOf;
use crate::day::TradeDate;
use crate::decimal::Decimal;
use crate::market::{DayIndex, Market, NameId};
use crate::money::Price;
use crate::ticker::Board;

const BASIS: i64 = 10_000;

/// Where a price stands between its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitState {
    /// Neither limit is reached, or there is no limit.
    Inside,
    /// At the upper limit: a buy does not fill at once.
    Up,
    /// At the lower limit: a sell does not fill at once.
    Down,
}

impl LimitState {
    /// Whether an order of this side is blocked.
    #[must_use]
    pub const fn blocks(self, side: Side) -> bool {
        matches!((self, side), (Self::Up, Side::Buy) | (Self::Down, Side::Sell))
    }
}

/// The limits of one name on one day; no limit where there is no reference price or the listing is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceLimits {
    reference: Price,
    rule: LimitRule,
    buffer_bp: u32,
    exact_bp: u32,
    rounding: LimitRounding,
    none_beyond: bool,
}

impl PriceLimits {
    /// The limits of a name on `day`, given its reference price of that day.
    #[must_use]
    pub fn of(rules: &Rules, market: &Market, name: NameId, day: DayIndex, reference: Price) -> Option<Self> {
        if opens_delisting_period(market, name, day) {
            return None;
        }
        let standing = Standing::of(market, name, market.date(day)?);
        Self::with_standing(rules, market, name, day, standing, reference)
    }

    /// The limits that held on the day of a name's last bar, on or before the as-of day.
    #[must_use]
    pub fn of_last_bar(rules: &Rules, as_of: &AsOf<'_>, name: NameId) -> Option<Self> {
        let (day, bar) = as_of.last_bar(name)?;
        let before = as_of.bar_before_last(name)?;
        let reference = reference_price(before.close, before.factor, bar.factor);
        Self::of(rules, as_of.market(), name, day.index(), reference)
    }

    /// The limits of the trading day after the as-of day, as far as they may be known at its close: they hold unless
    /// that day is an ex-day or the name's standing changes overnight.
    #[must_use]
    pub fn of_next_day(rules: &Rules, as_of: &AsOf<'_>, name: NameId) -> Option<Self> {
        let (_, bar) = as_of.last_bar(name)?;
        let next = DayIndex::from_slot(as_of.day().index().saturating_add(1));
        let market = as_of.market();
        let standing = Standing::of(market, name, market.date(as_of.day())?);
        Self::with_standing(rules, market, name, next, standing, bar.close)
    }

    fn with_standing(
        rules: &Rules,
        market: &Market,
        name: NameId,
        day: DayIndex,
        standing: Standing,
        reference: Price,
    ) -> Option<Self> {
        if is_unlimited(rules, market, name, day) {
            return None;
        }
        let board = market.board(name);
        Some(Self {
            exact_bp: exact_bp(rules, market, day, board, standing),
            ..Self::widest(rules, board, reference)
        })
    }

    /// The limits of a board at its widest span.
    pub(super) fn widest(rules: &Rules, board: Board, reference: Price) -> Self {
        Self {
            reference,
            rule: rules.limit,
            buffer_bp: rules.buffer_bp.get(board),
            exact_bp: rules.exact_bp.get(board),
            rounding: rules.limit_rounding(board),
            none_beyond: rules.no_limit_beyond,
        }
    }

    /// The exchange's own upper limit in whole fen.
    #[must_use]
    pub fn exact_up(&self) -> Price {
        self.exact_price(BASIS + i64::from(self.exact_bp), 0)
    }

    /// The exchange's own lower limit in whole fen.
    #[must_use]
    pub fn exact_down(&self) -> Price {
        self.exact_price(BASIS - i64::from(self.exact_bp), BASIS - 1)
    }

    /// reference x (10000 ± b) / 10000 in integers; `inward` is added before what is left is cut off, where limits are cut
    /// towards the reference.
    fn exact_price(&self, basis: i64, inward: i64) -> Price {
        whole_fen(
            self.product(basis)
                + i128::from(match self.rounding {
                    LimitRounding::FloorCeil => inward,
                    LimitRounding::HalfUp => BASIS / 2,
                }),
        )
    }

    fn product(&self, basis: i64) -> i128 {
        i128::from(self.reference.0) * i128::from(basis)
    }

    /// Lowest price at which a buy meets its limit.
    #[must_use]
    pub fn up(&self) -> Price {
        match self.rule {
            LimitRule::Exact => self.exact_up(),
            LimitRule::Buffered => self.buffered_up(),
            LimitRule::Strict => self.exact_up().min(self.buffered_up()),
        }
    }

    /// Highest price at which a sell meets its limit.
    #[must_use]
    pub fn down(&self) -> Price {
        match self.rule {
            LimitRule::Exact => self.exact_down(),
            LimitRule::Buffered => self.buffered_down(),
            LimitRule::Strict => self.exact_down().max(self.buffered_down()),
        }
    }

    /// Where a price stands.
    #[must_use]
    pub fn state(&self, price: Price) -> LimitState {
        if price >= self.up() {
            LimitState::Up
        } else if price <= self.down() {
            LimitState::Down
        } else {
            LimitState::Inside
        }
    }

    /// Whether an open strictly beyond the exchange's own limit proves that none holds.
    pub(super) const fn none_beyond(&self) -> bool {
        self.none_beyond
    }

    /// Lowest price that is not below reference x (10000 + b) / 10000.
    fn buffered_up(&self) -> Price {
        whole_fen(self.product(BASIS + i64::from(self.buffer_bp)) + i128::from(BASIS - 1))
    }

    /// Highest price that is not above reference x (10000 - b) / 10000.
    fn buffered_down(&self) -> Price {
        whole_fen(self.product(BASIS - i64::from(self.buffer_bp)))
    }

    /// Where a price stands between the exchange's own limits, whatever rule the simulator fills by.
    #[must_use]
    pub fn exact_state(&self, price: Price) -> LimitState {
        if price >= self.exact_up() {
            LimitState::Up
        } else if price <= self.exact_down() {
            LimitState::Down
        } else {
            LimitState::Inside
        }
    }
}

/// Ten-thousandths of a fen cut down to whole fen.
fn whole_fen(ten_thousandths: i128) -> Price {
    Price(i64::try_from(ten_thousandths.div_euclid(i128::from(BASIS))).unwrap_or(i64::MAX))
}

/// Previous close x old factor / new factor, half-up; the previous close itself when the factor did not move.
#[must_use]
pub fn reference_price(previous_close: Price, old_factor: Decimal, new_factor: Decimal) -> Price {
    if old_factor == new_factor {
        return previous_close;
    }
    let Some((whole, rest, denominator)) = old_factor.scale_count(previous_close.0, new_factor) else {
        return previous_close;
    };
    Price(whole.saturating_add(i64::from(rest * 2 >= denominator)))
}

/// The exchange's limit of a day; of the calendar's last date for the day after it.
fn exact_bp(rules: &Rules, market: &Market, day: DayIndex, board: Board, standing: Standing) -> u32 {
    let date = market
        .date(day)
        .or_else(|| market.calendar().last().copied())
        .unwrap_or_else(TradeDate::earliest);
    rules.exact_limit_bp(board, standing, date)
}

/// Whether the day is one of a listing's first days without a limit. Without a listing date the rule is off.
///
/// A listing before the panel's first day counts as past them: its first days cannot be counted.
fn is_unlimited(rules: &Rules, market: &Market, name: NameId, day: DayIndex) -> bool {
    let Some(listed) = market.name(name).and_then(|info| info.listed) else {
        return false;
    };
    let board = market.board(name);
    if rules.no_limit_from.get(board).is_some_and(|from| listed < from) {
        return false;
    }
    if market.calendar().first().is_none_or(|first| listed < *first) {
        return false;
    }
    let first_day = market.calendar().partition_point(|date| *date < listed);
    let days = usize::try_from(rules.no_limit_days.get(board)).unwrap_or(usize::MAX);
    day.index()
        .checked_sub(first_day)
        .is_some_and(|elapsed| elapsed < days)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(rule: LimitRule, reference: i64) -> PriceLimits {
        PriceLimits {
            reference: Price(reference),
            rule,
            buffer_bp: 950,
            exact_bp: 1000,
            rounding: LimitRounding::HalfUp,
            none_beyond: true,
        }
    }

    #[test]
    fn strict_is_at_or_beyond_either() {
        // -9.41 % is inside the buffer and yet the exchange's own limit.
        assert_eq!(
            limits(LimitRule::Buffered, 85).state(Price(77)),
            LimitState::Inside
        );
        assert_eq!(limits(LimitRule::Exact, 85).state(Price(77)), LimitState::Down);
        assert_eq!(limits(LimitRule::Strict, 85).state(Price(77)), LimitState::Down);
        // +9.5 % is beyond the buffer and inside the exchange's limit.
        assert_eq!(
            limits(LimitRule::Exact, 2000).state(Price(2190)),
            LimitState::Inside
        );
        assert_eq!(limits(LimitRule::Strict, 2000).state(Price(2190)), LimitState::Up);
    }

    #[test]
    fn limit_prices_round_half_up() {
        let of = |reference| {
            (
                limits(LimitRule::Exact, reference).exact_up(),
                limits(LimitRule::Exact, reference).exact_down(),
            )
        };
        assert_eq!(of(105), (Price(116), Price(95)));
        assert_eq!(of(1005), (Price(1106), Price(905)));
        assert_eq!(of(95), (Price(105), Price(86)));
    }

    /// The closes whose boards were missed while Beijing's limits were taken for half-up: sealed at 110.01 and at 7.03.
    #[test]
    fn limits_of_beijing_are_cut_towards_the_reference() {
        let of = |reference, rounding| {
            let limits = PriceLimits {
                exact_bp: 3000,
                rounding,
                ..limits(LimitRule::Exact, reference)
            };
            (limits.exact_up().0, limits.exact_down().0)
        };
        assert_eq!(of(8463, LimitRounding::FloorCeil), (11_001, 5925));
        assert_eq!(of(8463, LimitRounding::HalfUp), (11_002, 5924));
        assert_eq!(of(1003, LimitRounding::FloorCeil), (1303, 703));
        assert_eq!(of(1003, LimitRounding::HalfUp), (1304, 702));
        assert_eq!(of(1000, LimitRounding::FloorCeil), (1300, 700));
    }

    #[test]
    fn reference_price_is_exact() {
        let factor = |text| Decimal::parse(text).unwrap();
        assert_eq!(reference_price(Price(1001), factor("1"), factor("2")), Price(501));
        assert_eq!(
            reference_price(Price(1000), factor("0.9"), factor("1")),
            Price(900)
        );
        assert_eq!(
            reference_price(Price(1000), factor("1.5"), factor("1.50")),
            Price(1000)
        );
    }
}
