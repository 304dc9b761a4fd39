//! The outcome of a run of a program: its logs, or why it gave none.

use ktd_strategy_code::CandidateLogs;
use std::fmt;

/// Why a run gave no logs: the program's own fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFault {
    /// The class of the exception, or what the box calls the end of a job, such as `cpu`.
    pub code: String,
    /// What it says: foreign, and escaped wherever it is shown.
    pub message: String,
    /// The line of the source.
    pub line: Option<u64>,
}

impl RunFault {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            line: None,
        }
    }
}

impl fmt::Display for RunFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.code)?;
        if !self.message.is_empty() {
            write!(formatter, ": {}", self.message)?;
        }
        match self.line {
            Some(line) => write!(formatter, " (line {line})"),
            None => Ok(()),
        }
    }
}

/// What a run gave.
pub(crate) type LogsOutcome = Result<CandidateLogs, RunFault>;
