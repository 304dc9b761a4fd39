//! The leaderboard: from bundles to ranks that say which differences are real.
//!
//! One [`Board`] is computed and written as JSON; tables, CSV and the page are views of it and compute nothing.
//!
//! Knows: finished bundles, the factor model, statistics. Never knows: a client, a running episode, a signature.

mod benchmark;
mod collect;
mod contrast;
mod day_books;
mod error;
mod fitted;
mod forecast;
mod gather;
mod health;
mod identity;
mod leader;
mod notes;
mod own_file;
pub mod page;
mod paper;
mod played;
mod protocol;
mod quote;
mod record;
mod reference;
mod report;
mod score;
mod sensitivity;
mod separation;
mod settings;
pub mod sheet;
mod trials;

pub use benchmark::Benchmark;
pub use collect::{BOARD_FORMAT, BoardOptions, Tick, collect};
pub use error::BoardError;
pub use fitted::Fitted;
pub use forecast::Forecast;
pub use leader::Draws;
pub use own_file::{OwnAccount, OwnDays, play_file};
pub use paper::{PaperAccount, PaperFault, PaperFees, PaperOrders, PaperTrade};
pub use played::Played;
pub use record::{
    Board, CalibrationBin, Cohort, Contrast, Contribution, Curves, Faults, Gap, Health, Leader, Linked,
    ModelRecord, Pair, Protocol, Reliability, Resampling, SeedStat, Selection, SensitivityRow, Separation,
    StyleHealth, Track, VifStep,
};
pub use reference::MEMBERS;
pub use report::{AttributionReport, DailyRow, Excess, Subject, report};
pub use score::Score;
pub use settings::ModelSettings;
