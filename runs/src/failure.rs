//! What ends a command: a message, how to mend it, and the exit code.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a command ended without success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    exit_code: u8,
}

/// Exit code of a check that ran well and found a difference.
const DIFFERENCE: u8 = 1;
/// Exit code of bad input or usage.
const BAD_INPUT: u8 = 2;
/// Exit code of a run that stopped at its budget.
const BUDGET: u8 = 3;

/// How to mend what the system says of a file.
const FILE_HINTS: [(io::ErrorKind, &str); 10] = [
    (
        io::ErrorKind::NotFound,
        "check the path; directories are not made on the way",
    ),
    (
        io::ErrorKind::PermissionDenied,
        "check the permissions of the file and its directory",
    ),
    (
        io::ErrorKind::StorageFull,
        "the disk is full: free some space or write elsewhere; nothing was left half written",
    ),
    (
        io::ErrorKind::QuotaExceeded,
        "the quota is used up: free some space or write elsewhere; nothing was left half written",
    ),
    (
        io::ErrorKind::FileTooLarge,
        "files may not grow so large here: write elsewhere; nothing was left half written",
    ),
    (
        io::ErrorKind::AlreadyExists,
        "choose another path or pass --force",
    ),
    (
        io::ErrorKind::ReadOnlyFilesystem,
        "the file system is read-only: write elsewhere",
    ),
    (
        io::ErrorKind::IsADirectory,
        "this is a directory; name a file in it",
    ),
    (
        io::ErrorKind::UnexpectedEof,
        "the file is cut short: copy it again",
    ),
    (io::ErrorKind::InvalidData, "the file is damaged: copy it again"),
];

impl Failure {
    /// Bad input or usage: exit code 2. The message is lowercase, names the place, and has no full stop.
    #[must_use]
    pub fn bad_input(message: impl fmt::Display) -> Self {
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

    /// A file that cannot be read or written; `verb` completes "cannot …".
    #[must_use]
    pub fn file(verb: &str, path: &Path, error: &io::Error) -> Self {
        let failure = Self::bad_input(format_args!("cannot {verb} {}: {error}", path.display()));
        match FILE_HINTS.iter().find(|(kind, _)| *kind == error.kind()) {
            Some((_, hint)) => failure.with_hint(hint),
            None => failure,
        }
    }

    /// The same with a sentence on how to mend it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// What was wrong and where.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How to mend it, where something can be said.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Whether a check ran well and found a difference.
    #[must_use]
    pub const fn is_difference(&self) -> bool {
        self.exit_code == DIFFERENCE
    }

    /// The process's exit code: 1 for a difference found, 2 for bad input, 3 for a budget that is used up.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// The failure for programs: `{"error", "hint", "exit_code"}`.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "error": self.message,
            "hint": self.hint,
            "exit_code": self.exit_code,
        })
    }
}

impl fmt::Display for Failure {
    /// `error: …`, and `hint: …` on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl From<ktd_env::DataError> for Failure {
    fn from(error: ktd_env::DataError) -> Self {
        Self::bad_input(&error).with_hint(error.hint())
    }
}

impl From<crate::error::RunError> for Failure {
    fn from(error: crate::error::RunError) -> Self {
        use crate::error::RunError;
        // What stopped an attack decides, not that it was one.
        let mut cause = &error;
        while let RunError::Attack { source, .. } = cause {
            cause = source;
        }
        let failure = match cause {
            RunError::Diverged { .. }
            | RunError::RequestDiffers { .. }
            | RunError::NotRecorded { .. }
            | RunError::Damaged { .. }
            | RunError::Untrusted { .. }
            | RunError::Unfinished { .. }
            | RunError::Leak { .. } => Self::difference(&error),
            RunError::Budget { .. } => Self::budget(&error),
            RunError::Io { .. }
            | RunError::Busy { .. }
            | RunError::Configuration { .. }
            | RunError::HarnessBug { .. }
            | RunError::QuotaExhausted { .. }
            | RunError::Faults { .. }
            | RunError::Attack { .. }
            | RunError::Input { .. }
            | RunError::Session(_)
            | RunError::Panicked { .. } => Self::bad_input(&error),
        };
        failure.with_hint(error.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_programs_read_the_same() {
        let failure = Failure::bad_input("row 7: no close").with_hint("add one");
        assert_eq!(failure.to_string(), "error: row 7: no close\nhint: add one");
        assert_eq!(
            failure.to_json(),
            serde_json::json!({"error": "row 7: no close", "hint": "add one", "exit_code": 2})
        );
        assert_eq!(Failure::difference("x").exit_code(), 1);
    }
}
