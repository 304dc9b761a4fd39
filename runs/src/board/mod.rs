//! The leaderboard: from bundles to ranks that say which differences are real.
//!
//! One [`Board`] is computed and written as JSON; tables, CSV and the page are views of it and compute nothing.

mod day_books;
mod find;
mod forecast;
mod own_file;
mod paper;
mod played;
mod protocol;
mod quote;
mod record;

pub use find::Findings;
pub use forecast::Forecast;
pub use own_file::{OwnAccount, OwnDays, play_file};
pub use paper::{PaperAccount, PaperFault, PaperFees, PaperOrders, PaperTrade};
pub use played::{Found, Played};
pub use record::{
    Board, CalibrationBin, Cohort, Contrast, Contribution, Curves, Faults, Gap, Health, Leader, Linked,
    ModelRecord, Pair, Protocol, Reliability, Resampling, SeedStat, Selection, SensitivityRow, Separation,
    StyleHealth, Track, VifStep,
};
