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
            return Err(AccountFault::Cash(self.cash_cny));
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
