//! What can be wrong with a definition: a stable code, a place, and how to fix it.

use std::fmt;

/// What is wrong with a definition; the codes are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FxFault {
    /// The text is no definition.
    Syntax,
    /// A name that stands for nothing.
    UnknownName,
    /// An operator that the language lacks.
    UnknownOperator,
    /// A name that is defined already.
    NameTaken,
    /// Too few or too many arguments.
    Arity,
    /// An argument of the wrong kind.
    Argument,
    /// A window, count or lag that the operator cannot take.
    Window,
    /// A number out of range.
    Number,
    /// More parts than a definition may have.
    TooLarge,
    /// More levels than a definition may have.
    TooDeep,
    /// More bytes than a definition may have.
    TooLong,
    /// A recursive operator whose series misses a value after its first.
    Gap,
}

impl FxFault {
    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// An invalid definition: what is wrong, where, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FxError {
    /// What is wrong.
    pub fault: FxFault,
    /// The byte where it begins.
    pub at: usize,
    /// What stands there.
    pub found: String,
    /// How to fix it.
    pub hint: String,
}

impl FxError {
    pub(crate) fn new(fault: FxFault, at: usize, found: &str, hint: impl Into<String>) -> Self {
        const SHOWN: usize = 40;
        let mut shown: String = found.chars().take(SHOWN).collect();
        if shown.len() < found.len() {
            shown.push_str("..");
        }
        Self {
            fault,
            at,
            found: shown,
            hint: hint.into(),
        }
    }
}

impl fmt::Display for FxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            fault,
            at,
            found,
            hint,
        } = self;
        write!(
            formatter,
            "{} at byte {at}: found {found:?}; {hint}",
            fault.code()
        )
    }
}

impl std::error::Error for FxError {}
