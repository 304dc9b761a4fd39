//! The closed list of read-only tools.

use crate::args::{
    CompareArguments, ExpressionArguments, NoArguments, RiskArguments, ScreenArguments, SnapshotArguments,
};
use ktd_masking::Schema;

/// A read-only tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// Index, breadth, dispersion and tone.
    GetMarketContext,
    /// Names ranked by factors.
    ScreenCandidates,
    /// Bars, factors and limits of one name.
    GetStockSnapshot,
    /// A grid of a few names.
    CompareCandidates,
    /// Cash, holdings, and what the last step did.
    PortfolioState,
    /// What a plan of target weights would break and cost.
    RiskCheck,
    /// Names ranked by a formula; in no tool set unless an experiment asks for it.
    ScreenByExpression,
}

impl Tool {
    /// The six tools of every tool set, in the order of their descriptions.
    pub const ALL: [Self; 6] = [
        Self::GetMarketContext,
        Self::ScreenCandidates,
        Self::GetStockSnapshot,
        Self::CompareCandidates,
        Self::PortfolioState,
        Self::RiskCheck,
    ];

    /// The name a model calls it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GetMarketContext => "get_market_context",
            Self::ScreenCandidates => "screen_candidates",
            Self::GetStockSnapshot => "get_stock_snapshot",
            Self::CompareCandidates => "compare_candidates",
            Self::PortfolioState => "portfolio_state",
            Self::RiskCheck => "risk_check",
            Self::ScreenByExpression => "screen_by_expression",
        }
    }

    /// The tool of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .chain([Self::ScreenByExpression])
            .find(|tool| tool.name() == name)
    }

    /// Description for a model: what it returns, units, and an example call.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::GetMarketContext => {
                "The market at the as-of close: index level, returns, volatility a year and drawdown; breadth and \
                 dispersion (standard deviation of daily returns) of the index members; mean returns and share of \
                 risers by board and sector; steps left. Example: {}"
            }
            Self::ScreenCandidates => {
                "Ranks the index members by a weighted sum of factor z-scores, best first, with raw value and z-score \
                 of each factor asked for. A missing z-score counts as 0 and is told in `missing`; equal scores are \
                 ordered by raw value. Example: {\"factors\": [{\"factor\": \"RV_60\", \"direction\": \"low\"}], \
                 \"bounds\": [{\"factor\": \"ILLIQ\", \"max\": 1}]}"
            }
            Self::GetStockSnapshot => {
                "One stock: its latest daily bars up to the as-of day, oldest first (`days_ago` counts trading days \
                 where some are missing), all nine factors, technicals over the trading days in their names, previous close, `limit_state` unless the \
                 last close stood inside its price limits, and the limits expected for the next open. \
                 Example: {\"stock_id\": \"<id>\"}"
            }
            Self::CompareCandidates => {
                "A grid with one row a stock and one column a dimension. \
                 Example: {\"stock_ids\": [\"<id>\", \"<id>\"], \"dimensions\": [\"MOM_12_1\", \"return_20d\"]}"
            }
            Self::PortfolioState => {
                "The account in full: what STATE tells, with board and cost (or value) and sellable shares of each \
                 holding, and with the amounts of the last step's orders. Example: {}"
            }
            Self::ScreenByExpression => {
                "Ranks the index members by a formula in Qlib's language over their own daily bars up to the as-of day, at \
                 most 240 of them, and gives the percentile of each value among the members; younger stocks have none. \
                 Fields: $open $high $low $close $vwap (points, on a grid of 0.5 %), $volume $amount (multiples of their \
                 20-day means), $change. Operators of a series and a number of rows: Ref Delta Mean Sum Std Var Max Min \
                 Med Rank Slope Rsquare Resi EMA WMA Count; \
                 Corr(x,y,n), Quantile(x,n,q), If(c,x,y), Log, Abs, Sign, + - * / and comparisons. At most 8 different \
                 formulas a step. Example: {\"expression\": \"Mean($close,5)/$close-1\", \"side\": \"high\"}"
            }
            Self::RiskCheck => {
                "Tries target weights against the rules at the as-of closes, without trading: orders accepted or \
                 rejected and why, projected cash, fees, turnover (value traded over NAV), concentration (HHI). \
                 Example: {\"targets\": [{\"stock_id\": \"<id>\", \"target_weight\": 0.05}]}"
            }
        }
    }

    /// JSON Schema of its arguments.
    #[must_use]
    pub fn parameters(self) -> Schema {
        match self {
            Self::GetMarketContext | Self::PortfolioState => Schema::of::<NoArguments>(),
            Self::ScreenCandidates => Schema::of::<ScreenArguments>(),
            Self::GetStockSnapshot => Schema::of::<SnapshotArguments>(),
            Self::CompareCandidates => Schema::of::<CompareArguments>(),
            Self::RiskCheck => Schema::of::<RiskArguments>(),
            Self::ScreenByExpression => Schema::of::<ExpressionArguments>(),
        }
    }
}
