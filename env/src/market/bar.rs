//! One day of one name.

use crate::decimal::Decimal;
use crate::money::Price;

/// One day of one name, in real (unadjusted) prices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// First price; `None` where the source has none or one that is not positive.
    pub open: Option<Price>,
    /// Highest price.
    pub high: Price,
    /// Lowest price.
    pub low: Price,
    /// Last price, in fen a share, always positive.
    pub close: Price,
    /// Shares traded; 0 on a day without trading.
    pub volume: u64,
    /// Turnover in CNY: the source's, or volume x (high + low + close) / 3 where it has none.
    pub amount_cny: f64,
    /// Cumulative adjustment factor: adjusted price = real price x factor.
    pub factor: Decimal,
    /// The factor's nearest float, for total-return prices.
    pub factor_value: f64,
}

impl Bar {
    /// Whether an order could trade at this bar's open (docs/spec/exchange.md#prices).
    #[must_use]
    pub const fn trades_at_open(&self) -> bool {
        self.volume > 0 && self.open.is_some()
    }

    /// Total-return close in yuan: real close x factor.
    #[must_use]
    pub fn adjusted_close(&self) -> f64 {
        self.adjusted(self.close)
    }

    /// Total-return price in yuan of one of the bar's real prices.
    #[must_use]
    pub fn adjusted(&self, price: Price) -> f64 {
        price.to_yuan() * self.factor_value
    }
}
