//! What can be wrong with a study.

use ktd_data::DataFileError;
use ktd_io::{FileError, InputError};

/// A file, a panel or a formula with which no study can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What was asked for.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The market data.
    #[error(transparent)]
    Data(#[from] DataFileError),
}

ktd_io::error_constructors!(StudyError);
ktd_io::error_explanations!(StudyError: File, Data);
