//! What can be wrong with a formula: a stable code, a place, and how to fix it.

use std::fmt;

/// What is wrong with a formula; the codes are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum FormulaFault {
    /// The text is no formula.
    Syntax,
    /// An operator that the language lacks.
    UnknownOperator,
    /// A field that the data lacks.
    UnknownField,
    /// A part of Qlib that is left out: point-in-time reports.
    Unsupported,
    /// Too few or too many arguments.
    Arity,
    /// An argument with a name.
    KeywordArgument,
    /// A window or share that the operator cannot take.
    Window,
    /// A number where a series must stand.
    NotASeries,
    /// Arithmetic that conditions have not.
    BooleanArithmetic,
    /// A series of numbers where a condition must stand.
    NotBoolean,
    /// One comparison after the other.
    ChainedComparison,
    /// Python's `and`, `or`, `not`, `if`, `else`.
    PythonLogic,
    /// An operator sign of Python that the language lacks.
    PythonOperator,
    /// More bytes than a formula may have.
    TooLong,
    /// More levels than a formula may have.
    TooDeep,
    /// More parts than a formula may have.
    TooLarge,
    /// A number out of range.
    Number,
    /// A value of a later day.
    LookAhead,
    /// The code of an instrument, where none may be named.
    NamesACode,
}

impl FormulaFault {
    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// An invalid formula: what was wrong, where, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    /// What is wrong.
    pub fault: FormulaFault,
    /// The byte where it begins.
    pub at: usize,
    /// What stands there.
    pub found: String,
    /// What should stand there.
    pub expected: String,
    /// How to fix it.
    pub hint: String,
}

impl FormulaError {
    pub(crate) fn new(fault: FormulaFault, at: usize, found: &str, expected: &str, hint: &str) -> Self {
        Self {
            fault,
            at,
            found: shortened(found),
            expected: expected.to_owned(),
            hint: hint.to_owned(),
        }
    }
}

/// The first characters of a text: a message shows a place, not a file.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push_str("..");
    }
    short
}

impl fmt::Display for FormulaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            fault,
            at,
            found,
            expected,
            hint,
        } = self;
        write!(
            formatter,
            "{} at byte {at}: found {found:?}, expected {expected}; {hint}",
            fault.code()
        )
    }
}

impl std::error::Error for FormulaError {}
