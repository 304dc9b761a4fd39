//! An experiment: models write strategies from documents and mend them, iteration by iteration, recorded and replayed.

mod arena_keys;
mod cell;
mod checked_submission;
mod config;
mod event;
mod evidence;
mod experiment;
mod goal;
mod kept_verdicts;
mod led;
mod messages;
mod own_copies;
mod planned;
mod real_tables;
mod record_files;
mod recorded_scores;
mod reviewed_start;
mod selection;
mod sent_messages;
mod sourced_task;
mod spent;
mod waves;

pub use arena_keys::{ArenaKeys, ReviewText, ReviewerChoice};
pub(crate) use cell::{RESULT, SubmissionResult, TRACES, folder_of};
pub(crate) use checked_submission::{CheckedSubmission, finished_submissions, own_strategies};
pub(crate) use config::review_role;
pub use config::{StrategyChoice, StrategyExperiment};
pub(crate) use event::VersionVerdict;
pub use event::{DriftEvent, PatchEvent, VersionEvent, VersionReport};
pub(crate) use experiment::BOX;
pub use experiment::{
    RealSubmission, StrategyResults, another_box, check_records, is_strategy_code, read_real,
    replay_experiment, run_experiment,
};
pub use goal::StrategyGoal;
pub use planned::{PlannedModel, StrategyPlan, plan_experiment};
pub use real_tables::real_tables;
pub(crate) use real_tables::test_return;
pub use recorded_scores::{RecordedScores, VersionParts, recorded_scores};
pub use reviewed_start::StartingVersions;
pub(crate) use reviewed_start::{PeerWeakness, ReviewedStart};
pub(crate) use spent::{SpentBefore, arena_folder, reviewer_folder};

#[cfg(test)]
pub(crate) use checked_submission::fixture;
#[cfg(test)]
pub(crate) use event::fixture as event_fixture;
