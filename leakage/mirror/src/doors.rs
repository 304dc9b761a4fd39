//! What is questioned: the functions through which the market reaches an agent and orders reach the market.

use ktd_env::exchange::{Account, Decision, Order, Rules, StepReport, TradingDay, decide, step};
use ktd_env::factors::FactorConfig;
use ktd_env::{AsOf, DayIndex, FactorTable, FactorTableError, Market};
use ktd_tools::{StepView, Toolbox};

/// A day of a panel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarketDay<'m> {
    pub(crate) market: &'m Market,
    pub(crate) day: DayIndex,
}

/// The functions that an audit questions. The product has one of them, [`OwnDoors`]; tests hand in defective ones.
pub(crate) trait Doors: Sync {
    /// What may be known after the close of a day.
    fn as_of<'m>(&self, at: MarketDay<'m>) -> AsOf<'m> {
        at.market.as_of(at.day)
    }

    /// The factor values that the tools show of these as-of days.
    ///
    /// # Errors
    /// [`FactorTableError`] as [`FactorTable::new`].
    fn factors(
        &self,
        market: &Market,
        (first, last): (DayIndex, DayIndex),
    ) -> Result<FactorTable, FactorTableError> {
        FactorTable::new(market, &FactorConfig::KTD, first, last)
    }

    /// The answer of a tool at a step whose as-of day this is; only a defective tool looks at the market itself.
    fn call(
        &self,
        toolbox: &Toolbox,
        view: StepView<'_>,
        (name, arguments): (&str, &str),
        _as_of: MarketDay<'_>,
    ) -> String {
        let answer = toolbox.call(view, name, arguments);
        serde_json::to_string(&answer.payload).unwrap_or_default()
    }

    /// What the checks at decision make of orders for a trading day.
    fn decide(
        &self,
        rules: &Rules,
        account: &Account,
        orders: &[Order],
        day: MarketDay<'_>,
    ) -> Vec<Decision> {
        TradingDay::new(day.market, day.day)
            .map(|trading_day| decide(rules, account, orders, &trading_day.as_of()))
            .unwrap_or_default()
    }

    /// What the exchange makes of orders on a trading day; `None` on the panel's first, and for an account beyond counting.
    fn trade(
        &self,
        rules: &Rules,
        account: Account,
        orders: &[Order],
        day: MarketDay<'_>,
    ) -> Option<(Account, StepReport)> {
        let trading_day = TradingDay::new(day.market, day.day)?;
        step(rules, account, orders, &trading_day).ok()
    }
}

/// The product's own functions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnDoors;

impl Doors for OwnDoors {}
