//! Experiments: their files, the grid of cells, the exchange's rules as they are written, and prices.
//!
//! Knows: the nouns of the core crates. Never knows: a bundle, a client, a running episode.

pub mod agent;
pub mod amount;
pub mod basis_points;
pub mod branch;
pub mod caps;
pub mod cells;
pub mod config;
pub mod data_record;
pub mod drawn_windows;
mod error;
mod file_name;
pub mod label;
pub mod mask_arm;
pub mod mask_hash;
mod mask_keys;
pub mod nearest;
pub mod panel_windows;
pub mod pooled_days;
pub mod price_row;
pub mod price_table;
pub mod provider;
pub mod prune;
pub mod rate_limits;
pub mod recorded_rules;
mod rule_keys;
pub mod rules_config;
pub mod score_files;
pub mod step_config;
pub mod stop_rules;
pub mod toolbox;
pub mod window_config;

pub use error::ExperimentError;
