//! Cash and holdings, changed by deals and marked at the close (rules E13, E16, A1, A2).

use super::config::Settle;
use super::exchange::{Deal, QlibSide};
use super::market::MarketDay;
use super::python;
use super::report::QlibMetrics;
use std::collections::BTreeMap;
use thiserror::Error;

/// At or below this value a deal changes nothing (rule E11).
const VALUE_NONE: f64 = 1e-5;
/// How far below zero an amount may fall before Qlib gives up.
const AMOUNT_SLACK: f64 = 1e-5;

/// What is held of one instrument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QlibHolding {
    /// Adjusted amount.
    pub amount: f64,
    /// Adjusted price it is marked at.
    pub price: f64,
    /// Ends of days it was held over.
    pub days: u32,
}

/// Qlib's account with its one position.
#[derive(Debug)]
pub struct QlibAccount {
    /// Cash that can be spent.
    cash: f64,
    /// Proceeds that can be spent after the end of the day.
    delayed: f64,
    settle: Settle,
    holdings: BTreeMap<usize, QlibHolding>,
    turnover: f64,
    cost: f64,
    last: Totals,
}

/// Running totals at the end of a day.
#[derive(Debug, Clone, Copy)]
struct Totals {
    account: f64,
    turnover: f64,
    cost: f64,
}

/// A sell the position cannot bear. Lot rounding adds up to a tenth of a share, so this can happen.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum SellFault {
    /// Nothing is held, where Qlib raises `KeyError`.
    #[error("nothing is held, where Qlib raises KeyError")]
    NotHeld,
    /// Less is held than was dealt, where Qlib raises `ValueError`.
    #[error("{sold} sold but only {held} held, where Qlib raises ValueError")]
    Short {
        /// Adjusted amount held.
        held: f64,
        /// Adjusted amount dealt.
        sold: f64,
    },
}

impl QlibAccount {
    /// An account with nothing but cash.
    #[must_use]
    pub const fn new(cash: f64, settle: Settle) -> Self {
        let last = Totals {
            account: cash,
            turnover: 0.0,
            cost: 0.0,
        };
        Self {
            cash,
            delayed: 0.0,
            settle,
            holdings: BTreeMap::new(),
            turnover: 0.0,
            cost: 0.0,
            last,
        }
    }

    /// Places a holding, as an account has it before the first day.
    pub fn hold(&mut self, instrument: usize, holding: QlibHolding) {
        self.holdings.insert(instrument, holding);
    }

    /// Cash that can be spent. May fall below zero (rule E10).
    #[must_use]
    pub const fn cash(&self) -> f64 {
        self.cash
    }

    /// Holdings by place of the symbol.
    #[must_use]
    pub const fn holdings(&self) -> &BTreeMap<usize, QlibHolding> {
        &self.holdings
    }

    /// The adjusted amount held, zero when there is none.
    #[must_use]
    pub fn amount(&self, instrument: usize) -> f64 {
        self.holdings
            .get(&instrument)
            .map_or(0.0, |holding| holding.amount)
    }

    /// Books a deal (rule E13).
    ///
    /// # Errors
    /// [`SellFault`] where Qlib raises because the position cannot bear the sell.
    pub fn book(&mut self, instrument: usize, side: QlibSide, deal: &Deal) -> Result<(), SellFault> {
        let (value, cost) = (deal.value, deal.cost);
        // Not `value <= VALUE_NONE`: a NaN must change nothing either.
        let dealt = VALUE_NONE < value;
        if !dealt {
            return Ok(());
        }
        let amount = value / deal.price;
        match side {
            QlibSide::Buy => {
                let holding = QlibHolding {
                    amount: 0.0,
                    price: deal.price,
                    days: 0,
                };
                self.holdings.entry(instrument).or_insert(holding).amount += amount;
                self.cash -= value + cost;
            }
            QlibSide::Sell => {
                self.take(instrument, amount)?;
                match self.settle {
                    Settle::None => self.cash += value - cost,
                    Settle::Cash => self.delayed += value - cost,
                }
            }
        }
        self.turnover += value;
        self.cost += cost;
        Ok(())
    }

    fn take(&mut self, instrument: usize, amount: f64) -> Result<(), SellFault> {
        let holding = self.holdings.get_mut(&instrument).ok_or(SellFault::NotHeld)?;
        let held = holding.amount;
        if python::is_close(held, amount) {
            self.holdings.remove(&instrument);
            return Ok(());
        }
        holding.amount -= amount;
        if holding.amount < -AMOUNT_SLACK {
            return Err(SellFault::Short { held, sold: amount });
        }
        Ok(())
    }

    /// Marks the holdings at the close and counts the day; a suspended one keeps its mark (rule E16).
    pub(super) fn mark(&mut self, day: MarketDay<'_>) {
        for (instrument, holding) in &mut self.holdings {
            let quote = day.quote(*instrument);
            if !quote.is_suspended() {
                holding.price = quote.close;
            }
            holding.days = holding.days.saturating_add(1);
        }
    }

    /// The day's metrics; the next day is measured against them.
    pub(super) fn metrics(&mut self) -> QlibMetrics {
        let value = self.value();
        let account = value + (self.cash + self.delayed);
        let last = self.last;
        let cost = self.cost - last.cost;
        self.last = Totals {
            account,
            turnover: self.turnover,
            cost: self.cost,
        };
        QlibMetrics {
            account,
            gross_return: (account - last.account + cost) / last.account,
            total_turnover: self.turnover,
            turnover: (self.turnover - last.turnover) / last.account,
            total_cost: self.cost,
            cost: cost / last.account,
            value,
            cash: self.cash,
        }
    }

    /// Releases delayed cash.
    pub(super) fn settle(&mut self) {
        self.cash += self.delayed;
        self.delayed = 0.0;
    }

    fn value(&self) -> f64 {
        self.holdings
            .values()
            .fold(0.0, |sum, holding| sum + holding.amount * holding.price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Quote;

    fn deal(amount: f64, price: f64, cost: f64) -> Deal {
        Deal {
            amount,
            price,
            value: amount * price,
            cost,
            factor: 1.0,
        }
    }

    fn held(amount: f64) -> QlibAccount {
        let mut account = QlibAccount::new(100_000.0, Settle::None);
        account.book(0, QlibSide::Buy, &deal(amount, 10.0, 5.0)).unwrap();
        account
    }

    #[test]
    fn a_sale_close_to_all_deletes_the_position() {
        let mut account = held(1_000_009.0);
        account
            .book(0, QlibSide::Sell, &deal(1_000_000.0, 10.0, 0.0))
            .unwrap();
        assert!(account.holdings().is_empty());
    }

    #[test]
    fn selling_a_rounded_up_lot_can_break_the_position() {
        let mut account = held(99.95);
        let fault = account
            .book(0, QlibSide::Sell, &deal(100.0, 10.0, 5.0))
            .unwrap_err();
        assert_eq!(
            fault,
            SellFault::Short {
                held: 99.95,
                sold: 100.0
            }
        );
        assert_eq!(
            account.book(1, QlibSide::Sell, &deal(1.0, 10.0, 0.0)),
            Err(SellFault::NotHeld)
        );
    }

    #[test]
    fn delayed_cash_counts_but_cannot_be_spent() {
        let mut account = QlibAccount::new(1005.0, Settle::Cash);
        account.book(0, QlibSide::Buy, &deal(100.0, 10.0, 5.0)).unwrap();
        account.book(0, QlibSide::Sell, &deal(100.0, 11.0, 5.0)).unwrap();
        let metrics = account.metrics();
        assert_eq!((metrics.cash, metrics.account, metrics.value), (0.0, 1095.0, 0.0));
        account.settle();
        assert_eq!(account.cash().to_bits(), 1095.0_f64.to_bits());
    }

    #[test]
    fn returns_are_gross_of_cost_and_turnover_counts_both_sides() {
        let mut account = held(1000.0);
        let quotes = [Quote {
            close: 11.0,
            ..Quote::MISSING
        }];
        account.mark(MarketDay::of(&quotes));
        let metrics = account.metrics();
        assert!((metrics.gross_return - 0.01).abs() < 1e-15);
        assert!((metrics.cost - 0.000_05).abs() < 1e-18);
        assert!((metrics.turnover - 0.1).abs() < 1e-15);
        // Suspended on the next day: the mark stays, the count goes on.
        account.mark(MarketDay::of(&[Quote::MISSING]));
        assert_eq!(
            account.holdings()[&0],
            QlibHolding {
                amount: 1000.0,
                price: 11.0,
                days: 2
            }
        );
        assert!(account.metrics().gross_return.abs() < 1e-15);
    }
}
