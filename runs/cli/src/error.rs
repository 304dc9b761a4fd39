//! What ends a command: a message, how to fix it, and the exit code.

use ktd_io::{ErrorClass, FileError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::io;
use std::path::Path;

/// Why a command ended without success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    message: String,
    hint: Option<String>,
    exit_code: u8,
}

/// Why a command failed, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Failure<'e> {
    /// What is wrong, and where.
    error: &'e str,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'e str>,
    /// 1: a check found a difference. 2: the input or the machine has to be fixed. 3: a budget is used up. 130: a signal ended it.
    exit_code: u8,
}

/// Exit code of a check that ran well and found a difference.
const DIFFERENCE: u8 = 1;
/// Exit code of bad input or usage.
const BAD_INPUT: u8 = 2;
/// Exit code of a run that stopped at its budget.
const BUDGET: u8 = 3;
/// Exit code of what a signal ended, as shells have it of Ctrl-C.
const STOPPED: u8 = 130;

impl CliError {
    /// Bad input or usage: exit code 2. The message is lowercase, names the place, and has no full stop.
    #[must_use]
    pub fn invalid(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            exit_code: BAD_INPUT,
        }
    }

    /// A check that ran well and found a difference: exit code 1.
    #[must_use]
    pub fn difference(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            exit_code: DIFFERENCE,
        }
    }

    /// A run that stopped at its budget and can be continued: exit code 3.
    #[must_use]
    pub fn budget(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            exit_code: BUDGET,
        }
    }

    /// A command that a signal ended before its work did, and that says nothing about it: exit code 130.
    #[must_use]
    pub fn stopped(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            exit_code: STOPPED,
        }
    }

    /// A file that cannot be read or written; `action` completes "cannot".
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let fault = FileError::io(action, path);
        move |source| Self::from(fault(source))
    }

    /// Bad input or usage, and how to fix it.
    #[must_use]
    pub fn input(message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::invalid(message).with_hint(hint)
    }

    pub(crate) fn of(class: ErrorClass, message: impl fmt::Display, hint: &str) -> Self {
        let error = match class {
            ErrorClass::InvalidInput => Self::invalid(message),
            ErrorClass::Difference => Self::difference(message),
            ErrorClass::Budget => Self::budget(message),
            ErrorClass::Stopped => Self::stopped(message),
        };
        if hint.is_empty() {
            error
        } else {
            error.with_hint(hint)
        }
    }

    /// The same with a sentence on how to fix it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The same with other words.
    #[must_use]
    pub(crate) fn reworded(mut self, reword: impl Fn(&str) -> String) -> Self {
        self.message = reword(&self.message);
        self.hint = self.hint.map(|hint| reword(&hint));
        self
    }

    /// What was wrong and where.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How to fix it, where something can be said.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Whether a check ran well and found a difference.
    #[must_use]
    pub const fn is_difference(&self) -> bool {
        self.exit_code == DIFFERENCE
    }

    /// The process's exit code: 1 for a difference found, 2 for bad input, 3 for a budget that is used up, 130 for
    /// a signal that ended it.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// The failure for programs: `{"error", "hint", "exit_code"}`.
    #[must_use]
    pub(crate) fn document(&self) -> Failure<'_> {
        Failure {
            error: &self.message,
            hint: self.hint.as_deref(),
            exit_code: self.exit_code,
        }
    }
}

impl fmt::Display for CliError {
    /// `error: …`, and `hint: …` on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CliError {}

impl From<ktd_env::DataError> for CliError {
    fn from(error: ktd_env::DataError) -> Self {
        Self::invalid(&error).with_hint(error.hint())
    }
}

/// Errors of the crates below: each knows what it means for a command and how to fix it.
macro_rules! from_errors {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::of(error.class(), &error, &error.hint())
            }
        }
    )+};
}

from_errors!(
    FileError,
    ktd_viewer::ViewerError,
    ktd_experiment::ExperimentError,
    ktd_data::DataFileError,
    ktd_record::RecordError,
    ktd_client::ClientError,
    ktd_episode::EpisodeError,
    ktd_plan::PlanningError,
    ktd_board::BoardError,
    ktd_reasons::ReasonsError,
    ktd_certify::CertifyError,
    ktd_predict::PredictError,
    ktd_formulas::FormulasError,
    ktd_simulate::SimulateError,
    ktd_boxed::BoxError,
    ktd_factor_study::CodeError,
    ktd_strategy_study::StrategyError,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_programs_read_the_same() {
        let failure = CliError::invalid("row 7: no close").with_hint("add one");
        assert_eq!(failure.to_string(), "error: row 7: no close\nhint: add one");
        assert_eq!(
            serde_json::json!(failure.document()),
            serde_json::json!({"error": "row 7: no close", "hint": "add one", "exit_code": 2})
        );
        assert_eq!(CliError::difference("x").exit_code(), 1);
    }
}
