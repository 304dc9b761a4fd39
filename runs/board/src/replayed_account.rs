//! A portfolio on paper: any number of shares at the open, fees by rate, no lots and no limits. References and files of
//! weights or trades are accounts of this kind; an episode never is.

use super::day_prices::DayPrices;
use ktd_attribution::account::{DayBook, HeldName};
use ktd_env::{DayIndex, Market, NameId};
use std::collections::BTreeMap;

/// What a paper trade costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeeRates {
    /// On buys, of the value traded.
    pub buy_rate: f64,
    /// On sells, of the value traded.
    pub sell_rate: f64,
}

/// A trade on paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccountTrade {
    /// What is traded.
    pub name: NameId,
    /// Signed shares: above 0 is a buy.
    pub shares: f64,
    /// Price, CNY a share; the open when absent.
    pub price_cny: Option<f64>,
    /// Fee, CNY; by rate when absent.
    pub fee_cny: Option<f64>,
}

/// What a paper account does on a day.
#[derive(Debug, Clone, PartialEq)]
pub enum AccountOrders {
    /// Nothing.
    Hold,
    /// These trades.
    Trades(Vec<AccountTrade>),
    /// Hold these weights of the value at the opens, and nothing else; a name that does not trade stays as it is.
    Weights(BTreeMap<NameId, f64>),
}

/// Why a paper day cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AccountFault {
    /// A trade of a name that does not trade that day.
    #[error("the name does not trade that day")]
    NoTrade(NameId),
    /// A sale of more than is held.
    #[error("it sells {sold} shares, but {held} are held")]
    Short {
        /// What is sold.
        name: NameId,
        /// Shares sold.
        sold: f64,
        /// Shares held.
        held: f64,
    },
    /// Weights that cannot be bought, because a holding beyond its weight cannot be sold that day.
    #[error(
        "the name does not trade that day and keeps {:.4} of the account, so that the cash does not pay for the other weights",
        held
    )]
    Kept {
        /// What cannot be sold: the largest such holding.
        name: NameId,
        /// Its share of the net asset value.
        held: f64,
    },
    /// Trades that the cash does not pay for.
    #[error("its trades leave {0} CNY of cash")]
    Cash(f64),
    /// Nothing is left.
    #[error("the net asset value is {0} CNY")]
    Ruined(f64),
}

/// A paper account between two days.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedAccount {
    cash_cny: f64,
    shares: BTreeMap<NameId, f64>,
    nav_cny: f64,
    fees: FeeRates,
}

/// Share of NAV by which cash may be below 0 through rounding.
const CASH_ROUNDING: f64 = 1e-9;

/// Shares below this are a rounding residue of a sale, not a holding.
const DUST_SHARES: f64 = 1e-9;

impl ReplayedAccount {
    /// An account of cash alone.
    #[must_use]
    pub const fn new(cash_cny: f64, fees: FeeRates) -> Self {
        Self {
            cash_cny,
            shares: BTreeMap::new(),
            nav_cny: cash_cny,
            fees,
        }
    }

    /// Cash, CNY. Fees are paid from it and may take it a little below 0 when weights add up to 1.
    #[must_use]
    pub const fn cash_cny(&self) -> f64 {
        self.cash_cny
    }

    /// Goes through one trading day.
    ///
    /// # Errors
    /// [`AccountFault`] for what cannot be traded or held.
    pub fn step(
        &mut self,
        market: &Market,
        day: DayIndex,
        orders: &AccountOrders,
    ) -> Result<DayBook, AccountFault> {
        let mut book = DayBook {
            day: day.index(),
            nav_before_cny: self.nav_cny,
            nav_after_cny: 0.0,
            held: Vec::new(),
            fees_cny: 0.0,
            slippage_cny: 0.0,
            corporate_cny: 0.0,
            unmarked_cny: 0.0,
        };
        let mut quotes: BTreeMap<NameId, DayPrices> = BTreeMap::new();
        for (name, shares) in &mut self.shares {
            let quote = DayPrices::of(market, *name, day);
            *shares *= quote.split;
            quotes.insert(*name, quote);
        }
        let before = self.shares.clone();
        let trades = self.trades(orders, |name| {
            *quotes
                .entry(name)
                .or_insert_with(|| DayPrices::of(market, name, day))
        });
        for trade in trades {
            let quote = *quotes
                .entry(trade.name)
                .or_insert_with(|| DayPrices::of(market, trade.name, day));
            self.trade(&trade, quote, &mut book)?;
        }
        // Weights that add up to 1 leave nothing for the fees of the day.
        let least = -(book.fees_cny + CASH_ROUNDING * self.nav_cny);
        if *orders != AccountOrders::Hold && self.cash_cny < least {
            let kept = self.kept(orders, &quotes);
            return Err(kept.unwrap_or(AccountFault::Cash(self.cash_cny)));
        }
        let mut nav = self.cash_cny;
        for (name, quote) in &quotes {
            let held = |shares: &BTreeMap<NameId, f64>| shares.get(name).copied().unwrap_or(0.0);
            let (before, after) = (held(&before), held(&self.shares));
            let mark = quote.mark.unwrap_or_default();
            nav += after * mark;
            match quote.reference {
                Some(reference) if before != 0.0 || after != 0.0 => book.held.push(HeldName {
                    row: name.index(),
                    before_cny: before * reference,
                    after_cny: after * reference,
                }),
                Some(_) => {}
                None => book.unmarked_cny += after * (mark - quote.open.unwrap_or(mark)),
            }
        }
        self.shares.retain(|_, shares| DUST_SHARES < *shares);
        if !(nav.is_finite() && 0.0 < nav) {
            return Err(AccountFault::Ruined(nav));
        }
        (self.nav_cny, book.nav_after_cny) = (nav, nav);
        Ok(book)
    }

    /// The largest holding without an open that is more than its weight, where orders are weights.
    fn kept(&self, orders: &AccountOrders, quotes: &BTreeMap<NameId, DayPrices>) -> Option<AccountFault> {
        let AccountOrders::Weights(targets) = orders else {
            return None;
        };
        let shut = quotes.iter().filter(|(_, quote)| quote.open.is_none());
        let kept = shut.filter_map(|(name, quote)| {
            let held = self.shares.get(name)? * quote.reference? / self.nav_cny;
            (targets.get(name).copied().unwrap_or(0.0) < held).then_some((*name, held))
        });
        let (name, held) = kept.max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(AccountFault::Kept { name, held })
    }

    /// The trades of a day's orders, in the order of the names, sales first.
    fn trades(
        &self,
        orders: &AccountOrders,
        mut quote: impl FnMut(NameId) -> DayPrices,
    ) -> Vec<AccountTrade> {
        let targets = match orders {
            AccountOrders::Hold => return Vec::new(),
            AccountOrders::Trades(trades) => return trades.clone(),
            AccountOrders::Weights(targets) => targets,
        };
        let mut value = self.cash_cny;
        for (name, shares) in &self.shares {
            let quote = quote(*name);
            value += shares * quote.open.or(quote.reference).unwrap_or_default();
        }
        let names: std::collections::BTreeSet<NameId> =
            self.shares.keys().chain(targets.keys()).copied().collect();
        let mut trades: Vec<AccountTrade> = names
            .into_iter()
            .filter_map(|name| {
                let open = quote(name).open?;
                let target = targets.get(&name).copied().unwrap_or(0.0) * value / open;
                let shares = target - self.shares.get(&name).copied().unwrap_or(0.0);
                (DUST_SHARES < shares.abs()).then_some(AccountTrade {
                    name,
                    shares,
                    price_cny: None,
                    fee_cny: None,
                })
            })
            .collect();
        trades.sort_by_key(|trade| 0.0 < trade.shares);
        trades
    }

    fn trade(
        &mut self,
        trade: &AccountTrade,
        quote: DayPrices,
        book: &mut DayBook,
    ) -> Result<(), AccountFault> {
        let open = quote.open.ok_or(AccountFault::NoTrade(trade.name))?;
        let price = trade.price_cny.unwrap_or(open);
        let held = self.shares.entry(trade.name).or_insert(0.0);
        if *held + trade.shares < -DUST_SHARES {
            return Err(AccountFault::Short {
                name: trade.name,
                sold: -trade.shares,
                held: *held,
            });
        }
        *held += trade.shares;
        let rate = if 0.0 < trade.shares {
            self.fees.buy_rate
        } else {
            self.fees.sell_rate
        };
        let fee = trade
            .fee_cny
            .unwrap_or_else(|| (trade.shares * price).abs() * rate);
        self.cash_cny -= trade.shares * price + fee;
        book.fees_cny += fee;
        book.slippage_cny += trade.shares * (price - open);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    /// A name that is held whole, does not trade, and should give way to another: no more cash would help.
    #[test]
    fn a_holding_that_cannot_be_sold_is_named() {
        let market = generate(&SynthConfig {
            seed: 5,
            names: 90,
            days: 330,
        })
        .unwrap();
        let day = |place| market.day_at(place).unwrap();
        let opens = |name, place| DayPrices::of(&market, name, day(place)).open.is_some();
        let (shut, place) = (200..320)
            .flat_map(|place| market.names().map(move |(name, _)| (name, place)))
            .find(|(name, place)| opens(*name, *place) && !opens(*name, place + 1))
            .unwrap();
        let other = market
            .names()
            .map(|(name, _)| name)
            .find(|name| *name != shut && opens(*name, place + 1));
        let mut account = ReplayedAccount::new(
            1e6,
            FeeRates {
                buy_rate: 0.0,
                sell_rate: 0.0,
            },
        );
        let mut hold = |place, name| {
            let weights = AccountOrders::Weights(BTreeMap::from([(name, 1.0)]));
            account.step(&market, day(place), &weights)
        };
        hold(place, shut).unwrap();
        let fault = hold(place + 1, other.unwrap()).unwrap_err();
        assert!(
            matches!(fault, AccountFault::Kept { name, held } if name == shut && 0.99 < held),
            "{fault}"
        );
    }
}
