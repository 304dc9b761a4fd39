//! What can be wrong with judging written code.

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
    /// The panel of a real stock.
    #[error(transparent)]
    Data(#[from] DataFileError),
    /// Tasks, panels or replies.
    #[error(transparent)]
    Factors(#[from] FactorCodeError),
}

ktd_io::error_constructors!(CodeError);
ktd_io::error_explanations!(CodeError: File, Boxed, Data;
    Self::Factors(_) => (
        "`ktd factor-code list` shows the tasks, docs/factor-code.md the form of files",
        ErrorClass::InvalidInput
    ),
);
