//! An order that has passed its schema.

use crate::decimal::Decimal;
use crate::market::NameId;
use crate::money::Shares;

/// Buy or sell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Buy.
    Buy,
    /// Sell.
    Sell,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Buy, Self::Sell];

    /// `BUY` or `SELL`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Buy => "BUY",
            Self::Sell => "SELL",
        }
    }
}

/// A target weight in `[0, 1]` with at most six decimal places, so that sizing is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetWeight {
    millionths: u32,
}

impl TargetWeight {
    /// The weight of a decimal; `None` above 1 or with more than six places by value.
    #[must_use]
    pub fn new(weight: Decimal) -> Option<Self> {
        let millionths = weight.scaled(6).filter(|&millionths| millionths <= 1_000_000)?;
        Some(Self {
            millionths: u32::try_from(millionths).ok()?,
        })
    }

    /// The weight of so many millionths of NAV; `None` above 1.
    #[must_use]
    pub const fn from_millionths(millionths: u32) -> Option<Self> {
        if millionths <= 1_000_000 {
            Some(Self { millionths })
        } else {
            None
        }
    }

    /// The weight in millionths of NAV.
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.millionths
    }
}

/// How much to trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A whole number of shares, above 0.
    Shares(Shares),
    /// The weight the holding shall have after the trade.
    TargetWeight(TargetWeight),
}

/// One order of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The name; `None` when the symbol resolves to no name of the panel.
    pub name: Option<NameId>,
    /// Buy or sell.
    pub side: Side,
    /// How much.
    pub quantity: Quantity,
}
