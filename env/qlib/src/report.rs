//! What a run leaves behind.

use super::exchange::QlibSide;
use chrono::NaiveDate;
use std::sync::Arc;

/// What a run leaves behind.
#[derive(Debug, Clone)]
pub struct QlibRun {
    /// Every order, dealt or not, in the order of execution.
    pub fills: Vec<QlibFill>,
    /// The account at the end of each day.
    pub daily: Vec<DayReport>,
    /// The holdings at the end, by symbol.
    pub final_positions: Vec<FinalPosition>,
    /// Whether a missing factor turned lot rounding off (rule E6).
    pub trade_with_adjusted_price: bool,
    /// Orders of the script dated outside the trading days of the run, which are not made.
    pub n_orders_outside: usize,
}

/// One order and what became of it. Amounts and prices are adjusted (rule R3).
#[derive(Debug, Clone)]
pub struct QlibFill {
    /// Day of execution.
    pub date: NaiveDate,
    /// Instrument.
    pub symbol: Arc<str>,
    /// Buy or sell.
    pub side: QlibSide,
    /// Amount asked for.
    pub requested: f64,
    /// Amount dealt.
    pub dealt: f64,
    /// Factor of the day, or `None` where the order was refused.
    pub factor: Option<f64>,
    /// Price of the deal, or `None` where the order was refused.
    pub price: Option<f64>,
    /// Value of the deal.
    pub value: f64,
    /// Cost of the deal.
    pub cost: f64,
    /// Cash before.
    pub cash_before: f64,
    /// Cash after.
    pub cash_after: f64,
    /// Amount held after.
    pub held_after: f64,
}

/// The account at the end of a day, a row of Qlib's report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DayReport {
    /// The day.
    pub date: NaiveDate,
    /// The account's figures.
    pub metrics: QlibMetrics,
    /// Change of the benchmark (rule A3).
    pub bench: f64,
    /// Instruments held.
    pub n_positions: usize,
}

/// The account at the end of a day (rules A1, A2). Shares are of the account the day before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QlibMetrics {
    /// Net asset value: holdings at their marks, cash, and cash not yet settled.
    pub account: f64,
    /// Return before cost: Qlib's `return`. Net of cost it is this less `cost`.
    pub gross_return: f64,
    /// Value traded since the start, buys and sells.
    pub total_turnover: f64,
    /// Value traded today, as a share.
    pub turnover: f64,
    /// Cost since the start.
    pub total_cost: f64,
    /// Cost today, as a share.
    pub cost: f64,
    /// Holdings at their marks.
    pub value: f64,
    /// Cash that can be spent.
    pub cash: f64,
}

/// A holding at the end of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct FinalPosition {
    /// Instrument.
    pub symbol: Arc<str>,
    /// Adjusted amount.
    pub amount: f64,
    /// Adjusted price it is marked at.
    pub price: f64,
    /// Share of the account.
    pub weight: f64,
    /// Ends of days it was held over.
    pub days: u32,
}
