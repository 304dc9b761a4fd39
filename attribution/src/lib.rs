//! What an episode earned, and from what: metrics, return attribution, and what may be concluded from them.
//!
//! Plain `f64` in, plain `f64` out. Money stays in integers elsewhere; this crate never decides a fill.
//!
//! | room | holds |
//! |---|---|
//! | [`metric`] | one file a metric; a value or a reason, never NaN |
//! | [`Panel`] | prices, volumes and membership as plain columns |
//! | [`model`] | exposures, the daily cross-sectional regression, the screen of its columns, its health |
//! | [`members_total_returns`] | the benchmark of total return, from prices and membership |
//! | [`account`] | the split of an account's days into common, style and specific return, timing, slippage and cost; linking; luck |
//! | [`planting`] | simulated accounts of known skill, style and luck: what a headline recovers of them |
//!
//! Knows: `env` (names, days, factors), `stats` (what may be concluded from numbers). Never knows: masks, prompts, agents, tools, files, clocks.

pub mod account;
pub mod metric;
pub mod model;
pub mod planting;

mod members_return;
mod panel;
mod random_portfolios;
mod ranking;
pub use members_return::members_total_returns;
pub use panel::{Panel, PanelColumns, PanelError};
pub use random_portfolios::{PORTFOLIO_NAMES, RANDOM_PORTFOLIOS, RandomPortfolios, RandomPortfoliosError};
pub use ranking::{
    RankSeparation, RankingTestError, RankingTests, SelectionSeries, pooled_selection, selection_bootstrap,
    selection_sums,
};
