//! De-anonymization probes: does what a model sees tell it which stock or which day it is?
//!
//! A [`Probe`] is what an agent would see of one stock on one day, some days or a whole episode, made by the same tools
//! and the same mask. [`Attackers`] read nothing but its text and own the whole price database; [`RecoveryTally`] counts
//! what they recover. The probe is the third guard of a mask: types make a leak impossible to write, the scan of every
//! request stops one that was written all the same, and the probe measures what numbers alone give away.
//!
//! Knows: `env`, `masking`, `tools`, `guard` (the names in a text), `stats`. Never knows: `attribution`, `runs`, files, clocks, threads.

mod answer;
mod asked_calls;
mod asked_episode;
#[cfg(test)]
mod asked_tests;
mod attack;
mod attacker_class;
mod background;
mod chance;
mod clue;
mod column;
pub mod controls;
mod database;
mod design_known;
#[cfg(test)]
mod design_tests;
mod episode_tools;
mod exhibit;
mod gold;
pub mod judge;
mod kind;
mod known_keys;
mod likelihood;
mod make;
mod member_ranks;
mod parsed_exhibit;
mod parsed_stock;
mod plan;
mod prior;
mod probe_maker;
mod sampling_design;
mod scan;
mod step_text;
mod stretch;
mod table;
mod tally;
mod tolerance;
mod unknown_content;

pub use answer::ProbeAnswer;
pub use attack::{Attackers, LearnedWeights, Lesson};
pub use attacker_class::AttackerClass;
pub use chance::{blind, expected};
pub use database::{Database, DatabaseSource};
pub use exhibit::{Exhibit, Probe, ProbeMessage, ProbeText, RevealedStock};
pub use gold::{Gold, Target};
pub use kind::ProbeKind;
pub use plan::{Aid, ProbePlan, ProbePlanError, given_away_of};
pub use probe_maker::ProbeMaker;
pub use sampling_design::SamplingDesign;
pub use stretch::Stretch;
pub use tally::{Comparison, DEFAULT_JOINT_DAYS, Measure, RecoveryTally};
