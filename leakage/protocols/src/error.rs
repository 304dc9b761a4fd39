//! Panels and settings on which no benchmark can be run.

use ktd_learners::LearnError;
use thiserror::Error;

/// What was wrong with an input, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LeakageError {
    /// A column that has not a cell for each session and name.
    #[error("{series}: {cells} cells are not {sessions} sessions of {names} names")]
    Shape {
        /// Which column.
        series: &'static str,
        /// Cells given.
        cells: usize,
        /// Sessions of the panel.
        sessions: usize,
        /// Names of the panel.
        names: usize,
    },
    /// A panel without a session or without a name.
    #[error("the panel needs at least one session and one name")]
    Empty,
    /// Months that go backwards.
    #[error("session {session} is invalid: its month lies before that of the session before")]
    Order {
        /// 0-based session.
        session: usize,
    },
    /// A panel that ends too early.
    #[error("the panel has {sessions} sessions, but {need} are needed for {what}")]
    TooShort {
        /// Sessions there are.
        sessions: usize,
        /// The fewest that do.
        need: usize,
        /// For what.
        what: &'static str,
    },
    /// A setting outside its range.
    #[error("invalid setting {name}: it must be {rule}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// What it must be.
        rule: &'static str,
    },
    /// Text that is no instant of a session.
    #[error(
        "{text:?} is no instant; write \"open\", \"close\", \"next_open\", \"next_close\", or with sessions as \"close+3\" and \
         \"close-1\""
    )]
    Instant {
        /// The text.
        text: String,
    },
    /// A horizon that was not prepared.
    #[error("unknown horizon {horizon}: name it where the benchmark is prepared")]
    Horizon {
        /// In sessions.
        horizon: usize,
    },
    /// A year without a session.
    #[error("unknown test year {year}: the panel has no session in it")]
    Year {
        /// The year.
        year: i32,
    },
    /// A year before which nothing can be fitted.
    #[error(
        "test year {year}: no row before it has all features and a label of {horizon} sessions; leave it out"
    )]
    NoFitRows {
        /// The test year.
        year: i32,
        /// The horizon.
        horizon: usize,
    },
    /// A year in which nothing can be traded.
    #[error("test year {year}: no session has {need} names with all features and returns; leave it out")]
    NoTestDays {
        /// The test year.
        year: i32,
        /// Names that a session needs.
        need: usize,
    },
    /// A predictor that could not be fitted.
    #[error("{family}, test year {year}: {error}")]
    Fit {
        /// The predictor.
        family: &'static str,
        /// The test year.
        year: i32,
        /// Why.
        error: LearnError,
    },
}
