//! One order against one day's quote: Qlib's `Exchange._calc_trade_info_by_order` (rules E1 to E11).

use super::config::{QlibConfig, VolumeKind};
use super::python;
use thiserror::Error;

/// At or below this value a deal is none: no cost, nothing recorded (rule E11).
const VALUE_NONE: f64 = 1e-5;
/// At or below this a deal price is missing and the close stands in (rule E4).
const PRICE_NONE: f64 = 1e-8;
/// Added to real shares before they are cut to lots, so that 99.9 shares make a lot of 100 (rule E5).
const LOT_SLACK_SHARES: f64 = 0.1;

/// Buy or sell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QlibSide {
    /// Adds to the holding.
    Buy,
    /// Takes from the holding.
    Sell,
}

/// What the exchange sees of an instrument on a day. `NaN` is Qlib's own sign for a missing value.
///
/// Prices are adjusted (raw times `factor`), amounts are real shares divided by `factor` (rule R3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quote {
    /// Adjusted close; missing when the instrument is suspended.
    pub close: f64,
    /// Adjusted price of the field that buys are filled at.
    pub buy_price: f64,
    /// Adjusted price of the field that sells are filled at.
    pub sell_price: f64,
    /// Adjustment factor.
    pub factor: f64,
    /// Adjusted volume.
    pub volume: f64,
    /// Most adjusted amount that may be dealt, where the run has a volume threshold.
    pub volume_cap: Option<f64>,
    /// Whether buys are blocked.
    pub limit_buy: bool,
    /// Whether sells are blocked.
    pub limit_sell: bool,
}

/// The numbers an order is dealt by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DealTerms {
    /// Cost of a buy as a share of its value.
    pub open_cost: f64,
    /// Cost of a sell as a share of its value.
    pub close_cost: f64,
    /// Least cost of an order.
    pub min_cost: f64,
    /// Market impact rate.
    pub impact_cost: f64,
    /// Real shares in a lot; `None` when amounts are not cut to lots.
    pub trade_unit: Option<f64>,
    /// Whether a volume cap is used up by the day's earlier orders.
    pub volume_kind: VolumeKind,
    /// What a division by a cost rate of zero does.
    pub numbers: Numbers,
}

/// The kind of number Qlib's quote gives, which decides what a division by zero does.
///
/// When cash falls short Qlib divides the least cost by the cost rate. Over a quote table the rate is a `NumPy`
/// scalar: a rate of zero gives infinity, and the buy goes on. On a day without volume, and over plain Python
/// numbers, the rate is a Python `float`: a rate of zero raises `ZeroDivisionError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// As in a backtest over a data directory.
    Numpy,
    /// As when the exchange is called with hand-written quotes.
    Python,
}

/// An order with the state of the account it meets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderRequest {
    /// Buy or sell.
    pub side: QlibSide,
    /// Adjusted amount asked for.
    pub amount: f64,
    /// Cash that can be spent.
    pub cash: f64,
    /// Adjusted amount held; zero when there is no position.
    pub held: f64,
    /// Adjusted amount dealt in this instrument earlier in the day, both sides.
    pub dealt_today: f64,
}

/// What became of an order that was let through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deal {
    /// Adjusted amount dealt; may be zero.
    pub amount: f64,
    /// Adjusted price.
    pub price: f64,
    /// Amount times price.
    pub value: f64,
    /// Cost of the order.
    pub cost: f64,
    /// Adjustment factor of the day.
    pub factor: f64,
}

/// Qlib's `ZeroDivisionError`: a buy short of cash at a cost rate of zero, on a day without traded value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "a buy short of cash divides the least cost by a cost rate of zero, where Qlib raises ZeroDivisionError"
)]
pub struct ZeroDivision;

impl Quote {
    /// What is known of an instrument that has no row.
    pub const MISSING: Self = Self {
        close: f64::NAN,
        buy_price: f64::NAN,
        sell_price: f64::NAN,
        factor: f64::NAN,
        volume: f64::NAN,
        volume_cap: None,
        limit_buy: true,
        limit_sell: true,
    };

    /// Whether the instrument is suspended: it has no close. Volume plays no part (rule E1).
    #[must_use]
    pub const fn is_suspended(&self) -> bool {
        self.close.is_nan()
    }

    /// Whether a side can be traded; `None` asks for both sides at once (rule E3).
    #[must_use]
    pub const fn is_tradable(&self, side: Option<QlibSide>) -> bool {
        let limited = match side {
            Some(QlibSide::Buy) => self.limit_buy,
            Some(QlibSide::Sell) => self.limit_sell,
            None => self.limit_buy || self.limit_sell,
        };
        !self.is_suspended() && !limited
    }

    /// The price of a deal: the field's, or the same day's close where that is missing (rule E4).
    #[must_use]
    pub fn deal_price(&self, side: QlibSide) -> f64 {
        let price = match side {
            QlibSide::Buy => self.buy_price,
            QlibSide::Sell => self.sell_price,
        };
        if price.is_nan() || price <= PRICE_NONE {
            self.close
        } else {
            price
        }
    }
}

impl DealTerms {
    /// The terms of a run. `adjusted_only` turns lot rounding off for every instrument (rule E6).
    #[must_use]
    pub fn of_run(config: &QlibConfig, adjusted_only: bool) -> Self {
        Self {
            open_cost: config.open_cost,
            close_cost: config.close_cost,
            min_cost: config.min_cost,
            impact_cost: config.impact_cost,
            trade_unit: if adjusted_only { None } else { config.trade_unit },
            volume_kind: config
                .volume_threshold
                .as_ref()
                .map_or(VolumeKind::Current, |threshold| threshold.kind),
            numbers: Numbers::Numpy,
        }
    }

    /// Cuts an adjusted amount to whole lots of real shares (rule E5).
    #[must_use]
    pub fn round_to_lots(&self, amount: f64, factor: f64) -> f64 {
        match self.trade_unit {
            Some(unit) => python::floor_div(amount * factor + LOT_SLACK_SHARES, unit) * unit / factor,
            None => amount,
        }
    }

    /// Deals an order, or `None` where the side cannot be traded (rules E3, E7 to E12).
    ///
    /// # Errors
    /// [`ZeroDivision`] where Qlib raises it; see [`Numbers`].
    pub fn deal(&self, quote: &Quote, order: &OrderRequest) -> Result<Option<Deal>, ZeroDivision> {
        if !quote.is_tradable(Some(order.side)) {
            return Ok(None);
        }
        let price = quote.deal_price(order.side);
        let asked = self.clip_to_volume(quote, order);
        let day_value = quote.volume * price;
        let has_day_value = day_value.abs() > 0.0;
        let impact = self.impact(asked * price, day_value, has_day_value);
        let (rate, amount) = match order.side {
            QlibSide::Sell => {
                let rate = self.close_cost + impact;
                (rate, self.sell_amount(quote, order, asked, price, rate))
            }
            QlibSide::Buy => {
                let rate = self.open_cost + impact;
                let divides = self.numbers == Numbers::Numpy && has_day_value;
                (rate, self.buy_amount(quote, order, asked, price, rate, divides)?)
            }
        };
        let value = amount * price;
        let cost = if value <= VALUE_NONE {
            0.0
        } else {
            python::max(value * rate, self.min_cost)
        };
        Ok(Some(Deal {
            amount,
            price,
            value,
            cost,
            factor: quote.factor,
        }))
    }

    /// The amount the volume threshold lets through (rule E7).
    fn clip_to_volume(&self, quote: &Quote, order: &OrderRequest) -> f64 {
        let Some(cap) = quote.volume_cap else {
            return order.amount;
        };
        let left = match self.volume_kind {
            VolumeKind::Current => cap,
            VolumeKind::Cumulative => cap - order.dealt_today,
        };
        python::max(python::min(left, order.amount), 0.0)
    }

    /// What market impact adds to the cost rate, by the amount before cash and lots cut it (rule E8).
    fn impact(&self, value: f64, day_value: f64, has_day_value: bool) -> f64 {
        if has_day_value {
            let share = value / day_value;
            self.impact_cost * (share * share)
        } else {
            self.impact_cost
        }
    }

    /// The amount sold: whole lots, unless everything goes (rule E9).
    fn sell_amount(&self, quote: &Quote, order: &OrderRequest, asked: f64, price: f64, rate: f64) -> f64 {
        let amount = if python::is_close(asked, order.held) {
            asked
        } else {
            self.round_to_lots(python::min(order.held, asked), quote.factor)
        };
        let value = amount * price;
        if order.cash + value < python::max(value * rate, self.min_cost) {
            0.0
        } else {
            amount
        }
    }

    /// The amount bought: what cash covers, in whole lots (rule E10).
    fn buy_amount(
        &self,
        quote: &Quote,
        order: &OrderRequest,
        asked: f64,
        price: f64,
        rate: f64,
        divides_by_zero: bool,
    ) -> Result<f64, ZeroDivision> {
        let value = asked * price;
        let cost = python::max(value * rate, self.min_cost);
        if order.cash < cost {
            return Ok(0.0);
        }
        let amount = if order.cash < value + cost {
            if rate.abs() <= 0.0 && !divides_by_zero && self.min_cost <= order.cash {
                return Err(ZeroDivision);
            }
            python::min(self.affordable(order.cash, price, rate), asked)
        } else {
            asked
        };
        Ok(self.round_to_lots(amount, quote.factor))
    }

    /// The amount whose value and cost just use up `cash`.
    fn affordable(&self, cash: f64, price: f64, rate: f64) -> f64 {
        if cash < self.min_cost {
            return 0.0;
        }
        // Above this much cash the cost is the rate's, below it is the least cost. A rate of zero makes it infinite
        // or, with no least cost, NaN: neither is reached, so the least cost is taken.
        let critical = self.min_cost / rate + self.min_cost;
        if critical <= cash {
            cash / (1.0 + rate) / price
        } else {
            (cash - self.min_cost) / price
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: DealTerms = DealTerms {
        open_cost: 0.0005,
        close_cost: 0.0015,
        min_cost: 5.0,
        impact_cost: 0.0,
        trade_unit: Some(100.0),
        volume_kind: VolumeKind::Current,
        numbers: Numbers::Numpy,
    };

    fn quote(price: f64) -> Quote {
        Quote {
            close: price,
            buy_price: price,
            sell_price: price,
            factor: 1.0,
            volume: 1e7,
            volume_cap: None,
            limit_buy: false,
            limit_sell: false,
        }
    }

    fn order(side: QlibSide, amount: f64, cash: f64, held: f64) -> OrderRequest {
        OrderRequest {
            side,
            amount,
            cash,
            held,
            dealt_today: 0.0,
        }
    }

    fn dealt(terms: &DealTerms, quote: &Quote, order: &OrderRequest) -> (f64, f64) {
        let deal = terms.deal(quote, order).unwrap().unwrap();
        (deal.amount, deal.cost)
    }

    #[test]
    fn lots_round_a_tenth_of_a_share_up() {
        let buy = |amount| dealt(&TERMS, &quote(10.0), &order(QlibSide::Buy, amount, 1e6, 0.0));
        assert_eq!(buy(1000.0), (1000.0, 5.0));
        assert_eq!(buy(150.0), (100.0, 5.0));
        assert_eq!(buy(99.9), (100.0, 5.0));
        assert_eq!(buy(99.89), (0.0, 0.0));
        assert_eq!(buy(10_000.0), (10_000.0, 50.0));
    }

    #[test]
    fn a_buy_may_leave_cash_below_zero() {
        assert_eq!(
            dealt(&TERMS, &quote(10.0), &order(QlibSide::Buy, 100.0, 1004.99, 0.0)),
            (100.0, 5.0)
        );
        assert_eq!(
            dealt(
                &TERMS,
                &quote(1800.0),
                &order(QlibSide::Buy, 1000.0, 179_920.0, 0.0)
            ),
            (100.0, 90.0)
        );
        assert_eq!(
            dealt(&TERMS, &quote(10.0), &order(QlibSide::Buy, 100.0, 4.99, 0.0)),
            (0.0, 0.0)
        );
    }

    #[test]
    fn a_sell_keeps_the_odd_lot_unless_all_goes() {
        let sell = |amount, held| dealt(&TERMS, &quote(10.0), &order(QlibSide::Sell, amount, 0.0, held)).0;
        assert_eq!(sell(321.0, 321.0).to_bits(), 321.0_f64.to_bits());
        assert_eq!(sell(500.0, 321.0).to_bits(), 300.0_f64.to_bits());
        assert_eq!(sell(50.0, 321.0).to_bits(), 0.0_f64.to_bits());
        // Within the tolerance of `isclose` more is sold than is held.
        assert_eq!(
            sell(1_000_009.0, 1_000_000.0).to_bits(),
            1_000_009.0_f64.to_bits()
        );
    }

    #[test]
    fn a_sale_that_cannot_pay_its_cost_is_dropped() {
        let sell = |cash| dealt(&TERMS, &quote(0.5), &order(QlibSide::Sell, 1.0, cash, 1.0));
        assert_eq!(sell(0.0), (0.0, 0.0));
        assert_eq!(sell(10.0), (1.0, 5.0));
    }

    #[test]
    fn a_missing_price_falls_back_to_the_close() {
        for missing in [f64::NAN, 0.0, 1e-8] {
            let quote = Quote {
                buy_price: missing,
                ..quote(9.9)
            };
            let deal = TERMS
                .deal(&quote, &order(QlibSide::Buy, 100.0, 1e6, 0.0))
                .unwrap()
                .unwrap();
            assert_eq!(deal.price.to_bits(), 9.9_f64.to_bits());
        }
    }

    #[test]
    fn limits_block_their_own_side_and_suspension_both() {
        let up = Quote {
            limit_buy: true,
            ..quote(10.0)
        };
        assert!(
            !up.is_tradable(Some(QlibSide::Buy))
                && up.is_tradable(Some(QlibSide::Sell))
                && !up.is_tradable(None)
        );
        let suspended = Quote {
            close: f64::NAN,
            ..quote(10.0)
        };
        assert!(!suspended.is_tradable(Some(QlibSide::Buy)) && !suspended.is_tradable(Some(QlibSide::Sell)));
        assert_eq!(TERMS.deal(&up, &order(QlibSide::Buy, 100.0, 1e6, 0.0)), Ok(None));
    }

    #[test]
    fn a_used_up_cap_leaves_the_rest() {
        let capped = Quote {
            volume_cap: Some(350.0),
            ..quote(10.0)
        };
        let buy = OrderRequest {
            dealt_today: 200.0,
            ..order(QlibSide::Buy, 1000.0, 1e6, 0.0)
        };
        assert_eq!(dealt(&TERMS, &capped, &buy).0.to_bits(), 300.0_f64.to_bits());
        let cumulative = DealTerms {
            volume_kind: VolumeKind::Cumulative,
            ..TERMS
        };
        assert_eq!(dealt(&cumulative, &capped, &buy).0.to_bits(), 100.0_f64.to_bits());
    }

    #[test]
    fn impact_raises_the_cost_not_the_price() {
        let terms = DealTerms {
            impact_cost: 0.1,
            ..TERMS
        };
        let thin = Quote {
            volume: 5000.0,
            ..quote(10.0)
        };
        let (amount, cost) = dealt(&terms, &thin, &order(QlibSide::Buy, 1000.0, 1e6, 0.0));
        assert_eq!(amount.to_bits(), 1000.0_f64.to_bits());
        assert!((cost - 45.0).abs() < 1e-10);
        let none = Quote {
            volume: f64::NAN,
            ..quote(10.0)
        };
        assert!((dealt(&terms, &none, &order(QlibSide::Buy, 1000.0, 1e6, 0.0)).1 - 1005.0).abs() < 1e-9);
    }

    #[test]
    fn a_rate_of_zero_divides_only_where_the_day_has_value() {
        let free = DealTerms {
            open_cost: 0.0,
            ..TERMS
        };
        let short = order(QlibSide::Buy, 1000.0, 505.0, 0.0);
        let five = DealTerms {
            trade_unit: Some(1.0),
            ..free
        };
        assert_eq!(dealt(&five, &quote(10.0), &short).0.to_bits(), 50.0_f64.to_bits());
        let empty = Quote {
            volume: 0.0,
            ..quote(10.0)
        };
        assert_eq!(free.deal(&empty, &short), Err(ZeroDivision));
        let python = DealTerms {
            numbers: Numbers::Python,
            ..free
        };
        assert_eq!(python.deal(&quote(10.0), &short), Err(ZeroDivision));
    }
}
