//! How long accepted functions take. Times differ from run to run and from machine to machine: they are measured when they are
//! asked for, and are no part of a record.

mod measure;
mod tables;

pub use measure::{FactorCodeTimes, TIMED_RUNS, TimedFunction};
