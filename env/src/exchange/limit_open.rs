//! Opens at the price limit of an order's side, and what the rest of the day says of them.

use super::limits::PriceLimits;
use super::order::Side;
use super::rules::LimitOpenRule;
use crate::market::Bar;

/// An open at the price limit of an order's side: the upper one for a buy, the lower one for a sell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitOpen {
    /// The price left the limit later on the day, so whatever had rested there was filled.
    Left,
    /// The price stayed at the limit all day.
    Sealed,
    /// The open lies strictly beyond the exchange's own limit, which proves that none holds that day.
    Beyond,
}

impl LimitOpen {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Left, Self::Sealed, Self::Beyond];

    /// The stable text.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Sealed => "sealed",
            Self::Beyond => "beyond",
        }
    }

    /// Whether an order fills in spite of it.
    #[must_use]
    pub const fn fills(self, rule: LimitOpenRule) -> bool {
        match (self, rule) {
            (Self::Beyond, LimitOpenRule::Queue | LimitOpenRule::Blocked)
            | (Self::Left, LimitOpenRule::Queue) => true,
            (Self::Left, LimitOpenRule::Blocked)
            | (Self::Sealed, LimitOpenRule::Queue | LimitOpenRule::Blocked) => false,
        }
    }
}

impl PriceLimits {
    /// What an order of this side meets at the open of a bar; `None` where the open is not at its limit.
    ///
    /// High and low of the day decide alone between [`LimitOpen::Left`] and [`LimitOpen::Sealed`].
    #[must_use]
    pub fn met(&self, side: Side, bar: &Bar) -> Option<LimitOpen> {
        let open = bar.open.filter(|open| self.state(*open).blocks(side))?;
        let (is_beyond, has_left) = match side {
            Side::Buy => (self.exact_up() < open, bar.low < self.up()),
            Side::Sell => (open < self.exact_down(), self.down() < bar.high),
        };
        Some(if is_beyond && self.none_beyond() {
            LimitOpen::Beyond
        } else if has_left {
            LimitOpen::Left
        } else {
            LimitOpen::Sealed
        })
    }
}
