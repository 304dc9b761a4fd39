//! Cash and holdings.

use super::lot::Lot;
use crate::market::NameId;
use crate::money::{Fen, Shares};

/// A position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The name.
    pub name: NameId,
    /// Whole shares, above 0. All of them were bought before today, so all are sellable (T+1).
    pub shares: Shares,
    /// What they cost, fees included; for display, it decides nothing.
    pub cost: Fen,
}

/// An account between two steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Cash, never below 0.
    pub cash: Fen,
    /// Positions in the order of the names, one a name.
    pub holdings: Vec<Holding>,
    /// What is held by day of purchase, names in order, the oldest lot of a name first; empty where dividends are not taxed.
    pub lots: Vec<Lot>,
    /// Net asset value at the last mark; the initial cash before the first day.
    pub nav: Fen,
}

impl Account {
    /// An account that holds cash alone.
    #[must_use]
    pub const fn with_cash(cash: Fen) -> Self {
        Self {
            cash,
            holdings: Vec::new(),
            lots: Vec::new(),
            nav: cash,
        }
    }

    /// Shares held of a name; 0 when it is not held.
    #[must_use]
    pub fn shares(&self, name: NameId) -> Shares {
        self.holding(name).map_or(Shares::ZERO, |holding| holding.shares)
    }

    /// The position in a name.
    #[must_use]
    pub fn holding(&self, name: NameId) -> Option<&Holding> {
        let place = self
            .holdings
            .binary_search_by_key(&name, |holding| holding.name)
            .ok()?;
        self.holdings.get(place)
    }

    /// Sets a position; 0 shares removes it.
    pub(super) fn set(&mut self, name: NameId, shares: Shares, cost: Fen) {
        match self.holdings.binary_search_by_key(&name, |holding| holding.name) {
            Ok(place) if shares.0 <= 0 => {
                self.holdings.remove(place);
                self.lots.retain(|lot| lot.name != name);
            }
            Ok(place) => {
                if let Some(holding) = self.holdings.get_mut(place) {
                    (holding.shares, holding.cost) = (shares, cost);
                }
            }
            Err(_) if shares.0 <= 0 => {}
            Err(place) => self.holdings.insert(place, Holding { name, shares, cost }),
        }
    }
}
