//! The `ktd` program: data at the edge, experiments, bundles, replay, verification.
//!
//! Knows: every other crate, files, the clock, the environment. It is the only crate that does.

pub mod attackers;
pub mod board;
pub mod bridge;
pub mod bundle;
pub mod certify;
pub mod cli;
pub mod control;
mod crash;
pub mod curve;
pub mod data;
pub mod episode;
pub mod error;
pub mod experiment;
pub mod failure;
pub mod force_probe;
pub mod limits;
mod mask_hash;
pub mod money;
pub mod output;
pub mod page;
pub mod plan;
pub mod progress;
pub mod reasons;
pub mod report;
pub mod rules_config;
pub mod simulate;
pub mod wire_check;
mod work;

pub use error::RunError;
pub use failure::Failure;
pub use mask_hash::mask_hash;
