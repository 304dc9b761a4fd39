//! Positions and equity of a strategy. Everything happens at the close of a bar, without costs.

use crate::bars::BarTime;
use crate::logs::{PositionState, TradeRow, TradeSide};

/// Equity that every run begins with, in units of account.
pub const INITIAL_CAPITAL: f64 = 100_000.0;

/// What an exposure may lie above its limit by rounding alone.
const EXPOSURE_TOLERANCE: f64 = 1e-9;

/// One open holding.
#[derive(Debug, Clone)]
struct Holding {
    symbol: String,
    /// Negative for a short.
    quantity: f64,
    entry_price: f64,
    entry_time: BarTime,
    entry_rule: String,
}

/// Open holdings by symbol, in the order of their opening, and the equity that closed ones left.
#[derive(Debug, Clone)]
pub(crate) struct Book {
    settled: f64,
    holdings: Vec<Holding>,
    trades: Vec<TradeRow>,
}

/// The price of each symbol on a bar.
pub(crate) type Closes<'a> = [(&'a str, f64)];

/// The bar on which something is done, and the rule that does it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deed<'a> {
    pub(crate) time: &'a BarTime,
    pub(crate) rule: &'a str,
}

impl Book {
    pub(crate) const fn new(capital: f64) -> Self {
        Self {
            settled: capital,
            holdings: Vec::new(),
            trades: Vec::new(),
        }
    }

    fn holding(&self, symbol: &str) -> Option<&Holding> {
        self.holdings.iter().find(|held| held.symbol == symbol)
    }

    /// Signed quantity of a symbol, 0 where it is not held.
    pub(crate) fn quantity(&self, symbol: &str) -> f64 {
        self.holding(symbol).map_or(0.0, |held| held.quantity)
    }

    /// Entry price of a holding.
    pub(crate) fn entry_price(&self, symbol: &str) -> Option<f64> {
        self.holding(symbol).map(|held| held.entry_price)
    }

    /// The symbol held longest.
    pub(crate) fn first_held(&self) -> Option<&str> {
        self.holdings.first().map(|held| held.symbol.as_str())
    }

    /// Settled equity and what open holdings would add at these closes.
    pub(crate) fn equity(&self, closes: &Closes<'_>) -> f64 {
        let open: f64 = self
            .holdings
            .iter()
            .map(|held| held.quantity * (price(closes, &held.symbol) - held.entry_price))
            .sum();
        self.settled + open
    }

    /// Sum of |quantity| x close over equity.
    pub(crate) fn exposure(&self, closes: &Closes<'_>) -> f64 {
        let gross: f64 = self
            .holdings
            .iter()
            .map(|held| held.quantity.abs() * price(closes, &held.symbol))
            .sum();
        gross / self.equity(closes)
    }

    /// Whether the exposure lies within a leverage.
    pub(crate) fn is_within(&self, closes: &Closes<'_>, max_leverage: f64) -> bool {
        self.exposure(closes) <= max_leverage + EXPOSURE_TOLERANCE
    }

    /// Moves a symbol to a signed quantity: the old holding is closed whole, the new one opened whole.
    #[expect(clippy::float_cmp, reason = "an unchanged quantity is no trade")]
    pub(crate) fn move_to(&mut self, symbol: &str, quantity: f64, price: f64, deed: Deed<'_>) {
        if self.quantity(symbol) == quantity {
            return;
        }
        self.close(symbol, price, deed);
        if quantity != 0.0 {
            self.holdings.push(Holding {
                symbol: symbol.to_owned(),
                quantity,
                entry_price: price,
                entry_time: deed.time.clone(),
                entry_rule: deed.rule.to_owned(),
            });
        }
    }

    /// Closes a holding whole; nothing where there is none.
    pub(crate) fn close(&mut self, symbol: &str, price: f64, deed: Deed<'_>) {
        let Some(place) = self.holdings.iter().position(|held| held.symbol == symbol) else {
            return;
        };
        let held = self.holdings.remove(place);
        let pnl = held.quantity * (price - held.entry_price);
        self.settled += pnl;
        self.trades.push(TradeRow {
            side: if held.quantity > 0.0 {
                TradeSide::Long
            } else {
                TradeSide::Short
            },
            symbol: held.symbol,
            entry_time: held.entry_time,
            exit_time: deed.time.clone(),
            entry_price: held.entry_price,
            exit_price: price,
            quantity: held.quantity.abs(),
            pnl,
            entry_rule: held.entry_rule,
            exit_rule: deed.rule.to_owned(),
        });
    }

    /// Adds to a holding; its entry price becomes the average by quantity.
    pub(crate) fn add(&mut self, symbol: &str, quantity: f64, price: f64) {
        if let Some(held) = self.holdings.iter_mut().find(|held| held.symbol == symbol) {
            let total = held.quantity + quantity;
            held.entry_price = (held.quantity * held.entry_price + quantity * price) / total;
            held.quantity = total;
        }
    }

    /// Long, short or flat in one symbol.
    pub(crate) fn state(&self, symbol: &str) -> PositionState {
        let quantity = self.quantity(symbol);
        if quantity > 0.0 {
            PositionState::Long
        } else if quantity < 0.0 {
            PositionState::Short
        } else {
            PositionState::Flat
        }
    }

    /// Whether nothing is held.
    pub(crate) const fn is_flat(&self) -> bool {
        self.holdings.is_empty()
    }

    pub(crate) fn into_trades(self) -> Vec<TradeRow> {
        self.trades
    }
}

/// The close of a symbol; a symbol that has none is worth nothing.
fn price(closes: &Closes<'_>, symbol: &str) -> f64 {
    closes
        .iter()
        .find(|(known, _)| *known == symbol)
        .map_or(0.0, |(_, close)| *close)
}
