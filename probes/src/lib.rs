//! De-anonymization probes: does what a model sees tell it which stock or which day it is?
//!
//! A [`Probe`] is what an agent would see of one stock on one day, some days or a whole episode, made by the same tools
//! and the same mask. [`Attackers`] read nothing but its text and own the whole price database; [`Tally`] counts
//! what they recover. The probe is the third guard of a mask: types make a leak impossible to write, the scan of every
//! request stops one that was written all the same, and the probe measures what numbers alone give away.
//!
//! Knows: `env`, `masking`, `tools`, `guard` (the names in a text). Never knows: `attribution`, `runs`, files, clocks, threads.

mod answer;
mod attack;
mod chance;
mod clue;
mod column;
pub mod controls;
mod database;
mod exhibit;
mod gold;
pub mod judge;
mod kind;
mod make;
mod plan;
mod said;
mod scan;
mod sight;
mod table;
mod tally;
mod tolerance;

pub use answer::Answer;
pub use attack::{Attackers, Lesson};
pub use chance::{blind, expected};
pub use database::{Database, DatabaseSource};
pub use exhibit::{Anchor, Exhibit, Message, Probe, ProbeText};
pub use gold::{Gold, Target};
pub use kind::ProbeKind;
pub use make::ProbeMaker;
pub use plan::{Aid, PlanError, ProbePlan, Stretch};
pub use tally::{Comparison, DEFAULT_JOINT_DAYS, Measure, Tally};
