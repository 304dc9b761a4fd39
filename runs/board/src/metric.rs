//! The metrics of a board.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A metric of an account or of a trial, under the name that `leaderboard.json` has it. The first eleven are the ten of the article and the
/// excess return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardMetric {
    /// Geometric return of the window.
    TotalReturn,
    /// Total return less that of the benchmark of total return.
    ExcessReturn,
    /// Annualised mean daily return over its deviation.
    SharpeRatio,
    /// Deepest fall from a high, positive.
    MaxDrawdown,
    /// The Sharpe ratio of returns less the benchmark's.
    InformationRatio,
    /// Traded value over the account, a year.
    Turnover,
    /// Herfindahl-Hirschman index of the weights.
    Hhi,
    /// Cash over the account.
    CashRatio,
    /// Share of steps without an order.
    Abstention,
    /// Share of submissions that could not be read.
    ParseFailure,
    /// Expected calibration error of stated confidences.
    Ece,
    /// Excess return against the price index, which leaves dividends out: too kind by its dividend yield.
    ExcessReturnPriceIndex,
    /// Information ratio against it.
    InformationRatioPriceIndex,
    /// Parse failures, those that a retry mended among them.
    ParseFailureStrict,
    /// Share of submissions that broke a rule after all retries.
    RuleBreach,
    /// Answered calls of tools over all.
    ToolValidity,
    /// Fees over the initial cash.
    FeeDrag,
    /// Fees over the initial cash by the schedule that the rules do not name.
    FeeDragOtherSchedule,
    /// Tax on dividends that sales paid, over the initial cash.
    DividendTax,
    /// What it could be at most, where it is not taken.
    DividendTaxAtMost,
    /// Herfindahl-Hirschman index of the weights over what was invested.
    HhiInvested,
    /// Mean absolute change of weights a day.
    WeightChange,
    /// Calibration error of buys alone.
    EceBuys,
}
