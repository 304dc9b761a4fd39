//! The closed list of read-only tools.

use crate::args::{CompareArguments, NoArguments, RiskArguments, ScreenArguments, SnapshotArguments};
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
}

impl Tool {
    /// Every tool, in the order a model is told of them.
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
        }
    }

    /// The tool of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What a model is told of it: what it returns, units, and an example call.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::GetMarketContext => {
                "The market at the close of the as-of day: index level, its returns over 1, 5, 20 and 60 trading \
                 days (0.01 is 1 %), 20-day volatility a year and drawdown from its 60-day high; breadth among index \
                 members (advancers, decliners, unchanged, at_limit_up, at_limit_down, suspended); dispersion \
                 (standard deviation of the members' last daily returns); tone by board and, where known, by sector; \
                 the day, this step and the steps left. Example: {}"
            }
            Self::ScreenCandidates => {
                "Ranks the index members of the as-of day by a weighted sum of factor z-scores and returns the best \
                 with raw value and z-score of each factor asked for, and flags (held, suspended, at_limit_up, \
                 at_limit_down, st). A missing z-score counts as 0 and is told in `missing`; equal scores are ordered by raw value. \
                 Example: {\"factors\": [{\"factor\": \"MOM_12_1\", \"direction\": \"high\", \"weight\": 2}, \
                 {\"factor\": \"RV_60\", \"direction\": \"low\"}], \"top_k\": 10, \
                 \"bounds\": [{\"factor\": \"ILLIQ\", \"scale\": \"z\", \"max\": 1}]}"
            }
            Self::GetStockSnapshot => {
                "One name: its latest daily bars (open, high, low, close, volume; adjusted for corporate actions up \
                 to the as-of day), all nine factors raw and as z-scores, technicals, previous close, where the last \
                 close stands between its price limits, and the limits expected for the next open. \
                 Example: {\"stock_id\": \"<id>\", \"lookback\": 30}"
            }
            Self::CompareCandidates => {
                "A grid with one row a name and one column a dimension: factors (raw and z-score), technicals, close, \
                 weight, unrealised_return. \
                 Example: {\"stock_ids\": [\"<id>\", \"<id>\"], \"dimensions\": [\"MOM_12_1\", \"return_20d\"]}"
            }
            Self::PortfolioState => {
                "The account at the close of the as-of day: NAV and cash in CNY, holdings with weight (share of NAV), \
                 value, unrealised return since purchase and what is sellable, the limits that are left, and what the \
                 last step's orders did and why. Example: {}"
            }
            Self::RiskCheck => {
                "Tries a plan of target weights against the rules at the as-of close, without trading: which orders \
                 it would take (BUY or SELL follows from the current weight), which would be rejected and why, \
                 projected cash, fees, turnover (value traded over NAV), concentration (HHI) and the limits left. \
                 The real fills happen at the next open, at other prices. \
                 Example: {\"targets\": [{\"stock_id\": \"<id>\", \"target_weight\": 0.05}, \
                 {\"stock_id\": \"<id>\", \"target_weight\": 0}]}"
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
        }
    }
}
