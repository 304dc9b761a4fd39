//! What can be wrong with what this crate is given.

use crate::fx_error::FxError;

/// What can be wrong with tasks, bars and replies.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FactorCodeError {
    /// Bars that are no series.
    #[error("row {row} of the bars is invalid: {problem}")]
    Bars {
        /// The row.
        row: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Fewer rows than a panel needs.
    #[error("the stock has {rows} rows; the panel needs at least {least}")]
    TooFewRows {
        /// The rows that there are.
        rows: usize,
        /// The rows that are needed.
        least: usize,
    },
    /// A line of a task file that is no task.
    #[error("line {line} of the task file is invalid: {problem}")]
    TaskLine {
        /// The line, from 1 on.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A task whose definition cannot be read, or not computed.
    #[error("the definition of task {id} is invalid: {error}")]
    Definition {
        /// The task.
        id: String,
        /// What is wrong with it.
        #[source]
        error: FxError,
    },
    /// A choice of tasks that is unknown.
    #[error("unknown task or category {name:?}; `all`, an id such as MOM-1-01, or one of {known}")]
    UnknownTask {
        /// What was asked for.
        name: String,
        /// The categories.
        known: String,
    },
    /// A line of a reply file that is no reply.
    #[error("line {line} of the reply file is invalid: {problem}")]
    ReplyLine {
        /// The line, from 1 on.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Facts of a syntax tree that are not of their form.
    #[error("the facts of a source are invalid: {problem}")]
    Facts {
        /// What is wrong with them.
        problem: String,
    },
    /// A rate that cannot be computed.
    #[error("Pass@{k} needs at least {k} samples; there are {samples}")]
    TooFewSamples {
        /// Samples a task.
        samples: u64,
        /// The draws.
        k: u64,
    },
}
