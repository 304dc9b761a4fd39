//! What ends a unit or a study.

use ktd_io::{ErrorClass, Explained};
use std::fmt;
use std::path::Path;

/// Error of a study of any kind: what was wrong and where, how to fix it, and what it means for the command. The errors of
/// every crate below become one by `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyError {
    what: String,
    hint: String,
    class: ErrorClass,
    is_waiting: bool,
}

impl StudyError {
    /// An invalid input, and how to fix it.
    pub fn input(what: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::of(ErrorClass::InvalidInput, what, hint)
    }

    /// An invalid input; what it is says enough to fix it.
    pub fn invalid(what: impl fmt::Display) -> Self {
        Self::input(what, "")
    }

    /// A record that is not what is made again from it, and how to fix it.
    pub fn difference(what: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::of(ErrorClass::Difference, what, hint)
    }

    /// A unit that the process was told to end, and how to go on with it.
    pub fn stopped(what: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::of(ErrorClass::Stopped, what, hint)
    }

    /// A unit that neither failed nor is finished: somebody else goes on with it, as the hint says.
    pub fn waiting(what: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self {
            is_waiting: true,
            ..Self::input(what, hint)
        }
    }

    /// A unit of which the kind says that it keeps its own record, and does not.
    pub(crate) fn no_own_format(folder: &Path) -> Self {
        Self::input(
            format_args!("{}: the kind has no format of its own", folder.display()),
            "this is a defect of the program: report it",
        )
    }

    /// A panic of a unit, which ends no other.
    pub(crate) fn of_panic(panic: &Box<dyn std::any::Any + Send>) -> Self {
        let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::input(
            format_args!("the program failed: {}", words.unwrap_or_default()),
            "this is a defect of the program: report it",
        )
    }

    fn of(class: ErrorClass, what: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self {
            what: what.to_string(),
            hint: hint.to_string(),
            class,
            is_waiting: false,
        }
    }

    /// The same with a place before it, such as the unit that it ended.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self {
            what: format!("{place}: {}", self.what),
            ..self
        }
    }

    /// How to fix it; empty where what it says is enough.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// Whether the unit neither failed nor is finished.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// What it means for a command.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        self.class
    }
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for StudyError {}

impl<E: Explained> From<E> for StudyError {
    fn from(error: E) -> Self {
        Self::of(error.meaning(), &error, error.how_to_fix())
    }
}
