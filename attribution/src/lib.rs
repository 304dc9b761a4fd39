//! What an episode earned, and from what: the metrics of a run and, later, its return attribution.
//!
//! Plain `f64` in, plain `f64` out. Money stays in integers elsewhere; this crate never decides a fill.
//!
//! | room | holds |
//! |---|---|
//! | [`metric`] | one file a metric; a value or a reason, never NaN |
//! | [`stats`] | what may be concluded: intervals, tests, ranks and what a design can detect |
//! | `wls` (later) | the daily cross-sectional regression of returns on exposures |
//! | `barra` (later) | the split of a day's return into common, style and specific return, timing, slippage and cost |
//!
//! Knows: `env` (names, days, factors). Never knows: masks, prompts, agents, tools, files, clocks.

pub mod account;
pub mod metric;
pub mod model;
pub mod stats;

mod panel;

pub use panel::{Panel, PanelColumns, PanelError};
