//! An experiment: models write strategies from documents and mend them, iteration by iteration, recorded and replayed.

mod cell;
mod config;
mod evidence;
mod experiment;
mod messages;
mod planned;
mod report_tables;

pub use config::{StrategyChoice, StrategyExperiment};
pub use experiment::{StrategyResults, read_experiment, replay_experiment, run_experiment};
pub use planned::{PlannedModel, StrategyPlan, plan_experiment};
pub use report_tables::experiment_tables;
