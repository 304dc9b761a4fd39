//! An experiment: models write strategies from documents and mend them, iteration by iteration.

mod arena_keys;
mod config;
mod evidence;
mod found;
mod messages;
mod reviewed_start;
mod submission;
mod world;

pub use arena_keys::{ArenaKeys, ReviewText, ReviewerChoice};
pub(crate) use config::KIND;
pub use config::{StrategyChoice, StrategyExperiment};
pub(crate) use found::{IterationTokens, OwnDocument};
pub use found::{SubmissionFound, SubmissionUnit, VersionEvent};
pub(crate) use reviewed_start::{PeerWeakness, ReviewedStart};
pub(crate) use submission::{run_submission, served};
pub use world::StrategyWorld;
pub(crate) use world::document_hash;
