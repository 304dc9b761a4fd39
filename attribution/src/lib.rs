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
//! | [`account`] | the split of an account's days into common, style and specific return, execution, slippage and cost; linking; luck |
//! | [`sizes`] | how often a board is wrong about agents of whom everything is known |
//! | [`planting`] | simulated accounts of known skill, style and luck: what a headline recovers of them |
//!
//! Knows: `env` (names, days, factors), `stats` (what may be concluded from numbers). Never knows: masks, prompts, agents, tools, files, clocks.

pub mod account;
pub mod metric;
pub mod model;
pub mod planting;
pub mod sizes;

mod members_return;
mod panel;
mod random_portfolios;
mod ranking;
pub use members_return::{MembersReturns, members_total_returns};
pub use panel::{Panel, PanelColumns, PanelError};
pub use random_portfolios::{PORTFOLIO_NAMES, RANDOM_PORTFOLIOS, RandomPortfolios, RandomPortfoliosError};
pub use ranking::{
    RankSeparation, RankingTestError, RankingTests, SelectionSeries, SelectionTrial, pooled_selection,
    selection_interval, selection_means,
};
