//! An experiment: models write strategies from documents and mend them, iteration by iteration.

mod arena_keys;
mod config;
mod event;
mod evidence;
mod found;
mod goal;
mod messages;
mod real_tables;
mod reviewed_start;
mod selection;
mod submission;
mod world;

pub use arena_keys::{ArenaKeys, ReviewText, ReviewerChoice};
pub(crate) use config::KIND;
pub use config::{SandboxKeys, StrategyChoice, StrategyExperiment};
pub(crate) use event::VersionVerdict;
pub use event::{DriftEvent, PatchEvent, VersionEvent, VersionReport};
pub(crate) use found::{IterationTokens, OwnDocument};
pub use found::{SubmissionFound, SubmissionUnit};
pub use goal::StrategyGoal;
pub use real_tables::RealSubmission;
pub(crate) use real_tables::{real_tables, test_return};
pub(crate) use reviewed_start::{PeerWeakness, ReviewedStart, StartingVersions};
pub(crate) use submission::{run_submission, served};
pub use world::StrategyWorld;
pub(crate) use world::{digests, document_hash};

#[cfg(test)]
pub(crate) use event::fixture as event_fixture;
