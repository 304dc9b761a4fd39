//! The `ktd` program: data at the edge, experiments, bundles, replay, verification.
//!
//! Knows: every other crate, files, the clock, the environment. It is the only crate that does.

pub mod cli;
pub mod data;
pub mod failure;
pub mod output;
pub mod progress;
pub mod rules_config;
pub mod simulate;

pub use failure::Failure;
