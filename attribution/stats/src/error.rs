//! Inputs from which no statistic may be computed.

use thiserror::Error;

/// What was wrong with an input, and where.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum StatsError {
    /// A value that is NaN or infinite.
    #[error("{series}: value {place} was {value}, but it must be a finite number")]
    NotFinite {
        /// Which series.
        series: &'static str,
        /// 0-based place; in a table, the day.
        place: usize,
        /// The value as given.
        value: f64,
    },
    /// A column that is not as long as the first.
    #[error("column {column}: {days} days, but the first column has {need_days}")]
    Ragged {
        /// 0-based column.
        column: usize,
        /// Days it has.
        days: usize,
        /// Days of the first column.
        need_days: usize,
    },
    /// A table without a column.
    #[error("a table of daily values needs at least one column")]
    NoColumns,
    /// Two series that belong together and differ in length.
    #[error("{left} values stand beside {right}")]
    Length {
        /// Values of the first.
        left: usize,
        /// Values of the second.
        right: usize,
    },
    /// Draws that were made for another number of days or steps.
    #[error("the draws are from {drawn} days or steps, but there are {days}")]
    Drawn {
        /// Days the draws are from.
        drawn: usize,
        /// Days there are.
        days: usize,
    },
    /// A bootstrap without days, with more than 2^32 - 1, or without replicates.
    #[error("a bootstrap of {days} days and {replicates} replicates cannot be drawn")]
    Bootstrap {
        /// Days.
        days: usize,
        /// Replicates.
        replicates: u32,
    },
    /// A mean block length below one day.
    #[error("the mean block was {value} days, but it must be a number of 1 or more")]
    MeanBlock {
        /// The value as given.
        value: f64,
    },
    /// A share that must lie strictly between two bounds.
    #[error("{name} was {value}, but it must lie between {above} and {below}")]
    Share {
        /// What it is.
        name: &'static str,
        /// The value as given.
        value: f64,
        /// The bound below it, itself excluded.
        above: f64,
        /// The bound above it, itself excluded.
        below: f64,
    },
    /// A p-value that is no probability.
    #[error("p-value {place} was {value}, but it must be a number from 0 to 1")]
    PValue {
        /// 0-based place.
        place: usize,
        /// The value as given.
        value: f64,
    },
    /// More successes than trials.
    #[error("{successes} successes of {trials} trials")]
    Successes {
        /// Successes.
        successes: u64,
        /// Trials.
        trials: u64,
    },
    /// A variance or deviation that is not a number of 0 or more.
    #[error("{name} was {value}, but it must be a number of 0 or more")]
    Negative {
        /// What it is.
        name: &'static str,
        /// The value as given.
        value: f64,
    },
    /// No trial at all, although there is a result.
    #[error("0 trials were counted, but a result is at least one")]
    NoTrials,
    /// A number of blocks that cannot be split into two halves, or whose splits are too many.
    #[error("{blocks} blocks, but an even number from 2 to {most} is needed")]
    Blocks {
        /// The number as given.
        blocks: usize,
        /// The most there may be.
        most: usize,
    },
    /// An agent without a single seed.
    #[error("agent {agent} has no seed")]
    NoSeeds {
        /// 0-based place of the agent.
        agent: usize,
    },
}

impl StatsError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotFinite { .. } => "a value that is not known is left out before, with its reason kept",
            Self::Ragged { .. } | Self::Length { .. } => "compare on the same days, windows or agents alone",
            Self::NoColumns => "give the daily values of at least one agent",
            Self::Drawn { .. } => "make the draws for the days of the table",
            Self::Bootstrap { .. } => "give at least one day and one replicate; 2000 replicates are usual",
            Self::MeanBlock { .. } => "10 days are usual",
            Self::Share { .. } => "shares are given as fractions, not as percentages",
            Self::PValue { .. } => "leave out contrasts that have no p-value",
            Self::Successes { .. } => "count every trial once",
            Self::Negative { .. } => "give the deviation or variance of the values themselves",
            Self::NoTrials => "count all trials that were run, the published one among them",
            Self::Blocks { .. } => "16 blocks are usual",
            Self::NoSeeds { .. } => "leave out agents that did not run",
        }
    }
}
