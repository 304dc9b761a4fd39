//! An experiment: a grid of cells, each an episode with its own bundle.

pub mod agent_kinds;
pub mod agents;
pub mod cells;
pub mod config;
pub mod market_source;
pub mod provider;
pub mod proxy;
pub mod prune;
pub mod run;
pub mod step_config;
pub mod window_config;
