//! The leaderboard: from bundles to ranks that say which differences are real.
//!
//! One [`Board`] is computed and written as JSON; tables, CSV and the page are views of it and compute nothing.

mod record;

pub use record::{
    Board, CalibrationBin, Cohort, Contrast, Contribution, Curves, Faults, Gap, Health, Leader, Linked,
    ModelRecord, Pair, Protocol, Reliability, Resampling, SeedStat, Selection, SensitivityRow, Separation,
    StyleHealth, Track, VifStep,
};
