//! An experiment: models write strategies from documents and mend them, iteration by iteration, recorded and replayed.

mod arena_keys;
mod cell;
mod config;
mod evidence;
mod experiment;
mod messages;
mod planned;
mod spent;

pub use arena_keys::{ArenaKeys, ReviewText, ReviewerChoice};
pub(crate) use cell::{RESULT, SubmissionResult, folder_of};
pub(crate) use config::review_role;
pub use config::{StrategyChoice, StrategyExperiment};
pub(crate) use experiment::finished_submissions;
pub use experiment::{StrategyResults, replay_experiment, run_experiment};
pub use planned::{PlannedModel, StrategyPlan, plan_experiment};
pub(crate) use spent::{SpentBefore, arena_folder, reviewer_folder};
