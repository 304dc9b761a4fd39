//! An experiment: models write strategies from documents and mend them, iteration by iteration, as a study.

mod arena_keys;
mod config;
mod event;
mod evidence;
mod found;
mod goal;
mod kind;
mod messages;
mod planned;
mod real_tables;
mod recorded_scores;
mod reviewed_start;
mod selection;
mod submission;
mod world;

pub use arena_keys::{ArenaKeys, ReviewText, ReviewerChoice};
pub use config::{SandboxKeys, StrategyChoice, StrategyExperiment};
pub(crate) use event::VersionVerdict;
pub use event::{DriftEvent, PatchEvent, VersionEvent, VersionReport};
pub(crate) use found::{IterationTokens, OwnDocument, ReviewsFound};
pub use found::{StrategyEvent, StrategyFound, StrategyUnit, SubmissionFound};
pub use goal::StrategyGoal;
pub use kind::StrategyStudy;
pub use planned::{PlannedModel, StrategyPlan, plan_experiment};
pub(crate) use real_tables::test_return;
pub use real_tables::{RealSubmission, real_tables};
pub use recorded_scores::{RecordedScores, VersionParts, recorded_scores};
pub(crate) use reviewed_start::{PeerWeakness, ReviewedStart, StartingVersions};
pub(crate) use submission::served;
pub use world::StrategyWorld;
pub(crate) use world::{digests, document_hash};

#[cfg(test)]
pub(crate) use event::fixture as event_fixture;
