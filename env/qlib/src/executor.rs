//! Executes orders against an account and keeps the record.

use super::account::{QlibAccount, SellFault};
use super::config::QlibConfig;
use super::error::SimulationError;
use super::exchange::{DealTerms, OrderRequest};
use super::market::{Market, MarketDay};
use super::report::{DayReport, FinalPosition, QlibFill};
use super::topk_dropout::Order;
use super::window::Step;

/// The account of a run, the terms it deals on, and what it has done.
#[derive(Debug)]
pub(super) struct Executor<'a> {
    market: &'a Market,
    terms: DealTerms,
    account: QlibAccount,
    /// Adjusted amounts dealt today, both sides, by place of the symbol.
    dealt_today: Vec<f64>,
    fills: Vec<QlibFill>,
}

impl<'a> Executor<'a> {
    pub(super) fn new(config: &QlibConfig, market: &'a Market) -> Self {
        Self {
            market,
            terms: DealTerms::of_run(config, market.adjusted_only),
            account: QlibAccount::new(config.account, config.settle),
            dealt_today: vec![0.0; market.symbols().len()],
            fills: Vec::new(),
        }
    }

    pub(super) const fn account(&self) -> &QlibAccount {
        &self.account
    }

    pub(super) const fn terms(&self) -> &DealTerms {
        &self.terms
    }

    /// Deals an order, books it and records it (rules E12, E13).
    pub(super) fn execute(
        &mut self,
        step: &Step,
        day: MarketDay<'_>,
        order: Order,
    ) -> Result<(), SimulationError> {
        let Order {
            instrument,
            side,
            amount,
        } = order;
        let cash_before = self.account.cash();
        let request = OrderRequest {
            side,
            amount,
            cash: cash_before,
            held: self.account.amount(instrument),
            dealt_today: self.dealt_today.get(instrument).copied().unwrap_or(0.0),
        };
        let deal = self
            .terms
            .deal(day.quote(instrument), &request)
            .map_err(|_| SimulationError::ZeroDivision { date: step.date })?;
        if let Some(deal) = &deal {
            self.account
                .book(instrument, side, deal)
                .map_err(|fault| self.fault(step, instrument, deal.amount, fault))?;
            if let Some(dealt) = self.dealt_today.get_mut(instrument) {
                *dealt += deal.amount;
            }
        }
        self.fills.push(QlibFill {
            date: step.date,
            symbol: self.market.symbol(instrument),
            side,
            requested: amount,
            dealt: deal.map_or(0.0, |deal| deal.amount),
            // Over a step of several days Qlib looks for the last known factor and finds none.
            factor: deal
                .map(|deal| deal.factor)
                .filter(|factor| !(factor.is_nan() && step.spans_days())),
            price: deal.map(|deal| deal.price),
            value: deal.map_or(0.0, |deal| deal.value),
            cost: deal.map_or(0.0, |deal| deal.cost),
            cash_before,
            cash_after: self.account.cash(),
            held_after: self.account.amount(instrument),
        });
        Ok(())
    }

    /// Marks the account, reports the day, then settles it.
    pub(super) fn close_day(&mut self, step: &Step, day: MarketDay<'_>, bench: f64) -> DayReport {
        self.account.mark(day);
        let metrics = self.account.metrics();
        self.account.settle();
        self.dealt_today.fill(0.0);
        DayReport {
            date: step.date,
            metrics,
            bench,
            n_positions: self.account.holdings().len(),
        }
    }

    /// What is held, as shares of `net_asset_value`.
    pub(super) fn positions(&self, net_asset_value: f64) -> Vec<FinalPosition> {
        let holdings = self.account.holdings().iter();
        let position = |(instrument, holding): (&usize, &super::account::QlibHolding)| FinalPosition {
            symbol: self.market.symbol(*instrument),
            amount: holding.amount,
            price: holding.price,
            weight: holding.amount * holding.price / net_asset_value,
            days: holding.days,
        };
        holdings.map(position).collect()
    }

    pub(super) fn into_fills(self) -> Vec<QlibFill> {
        self.fills
    }

    fn fault(&self, step: &Step, instrument: usize, dealt: f64, fault: SellFault) -> SimulationError {
        let (date, symbol) = (step.date, self.market.symbol(instrument).to_string());
        match fault {
            SellFault::NotHeld => SimulationError::NotHeld {
                date,
                symbol,
                sold: dealt,
            },
            SellFault::Short { held, sold } => SimulationError::SoldMoreThanHeld {
                date,
                symbol,
                held,
                sold,
            },
        }
    }
}
