//! What can be wrong with judging written code.

use ktd_asking::AskingError;
use ktd_boxed::BoxError;
use ktd_data::DataFileError;
use ktd_factor_code::FactorCodeError;
use ktd_io::{ErrorClass, FileError, InputError};

/// A file, a task or a box with which no code can be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What was asked for.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The box.
    #[error(transparent)]
    Boxed(#[from] BoxError),
    /// Models and the record of what they answered.
    #[error(transparent)]
    Asking(#[from] AskingError),
    /// The panel of a real stock.
    #[error(transparent)]
    Data(#[from] DataFileError),
    /// What a record gives now is not what was written from it.
    #[error("{0}")]
    Difference(String),
    /// Tasks, panels or replies.
    #[error(transparent)]
    Factors(#[from] FactorCodeError),
}

ktd_io::error_constructors!(CodeError);
ktd_io::error_explanations!(CodeError: File, Boxed, Asking, Data;
    Self::Difference(_) => (
        "the record or what was written from it was changed, or the packages of the box are others",
        ErrorClass::Difference
    ),
    Self::Factors(_) => (
        "`ktd factor-code list` shows the tasks, docs/factor-code.md the form of files",
        ErrorClass::InvalidInput
    ),
);
