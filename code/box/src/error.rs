//! What can be wrong with a box.

use ktd_io::{ErrorClass, FileError, InputError};
use ktd_sandbox::{CaseError, FilterError, FrameError, LimitError, SourceFault};

/// Why a box cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoxError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What was asked for, or what the machine lacks.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The box let something through that it must refuse.
    #[error("the box does not hold: {failures}")]
    SelfTest {
        /// What it let through.
        failures: String,
    },
    /// A job was tried in several boxes, and each of them failed.
    #[error("the box failed {attempts} times in a row: {what}")]
    Failed {
        /// How often.
        attempts: u32,
        /// What the last one showed.
        what: String,
    },
}

ktd_io::error_constructors!(BoxError);
ktd_io::error_explanations!(BoxError: File;
    Self::SelfTest { .. } => (
        "nothing was run; `ktd box doctor` says what the machine lacks",
        ErrorClass::InvalidInput
    ),
    Self::Failed { .. } => (
        "this is a fault of the machine and not of the program that was run: try again, or see `ktd box doctor`",
        ErrorClass::InvalidInput
    ),
);

impl From<LimitError> for BoxError {
    fn from(error: LimitError) -> Self {
        Self::input(error, "change the limits of the box")
    }
}

impl From<SourceFault> for BoxError {
    fn from(error: SourceFault) -> Self {
        Self::invalid(error)
    }
}

impl From<FrameError> for BoxError {
    fn from(error: FrameError) -> Self {
        Self::input(error, "give the job less data")
    }
}

impl From<FilterError> for BoxError {
    fn from(error: FilterError) -> Self {
        Self::invalid(error)
    }
}

impl From<CaseError> for BoxError {
    fn from(error: CaseError) -> Self {
        Self::input(error, "fix the file of cases")
    }
}
