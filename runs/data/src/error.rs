//! What can be wrong with market data.

use ktd_env::DataError;
use ktd_io::{ErrorClass, FileError, InputError};

/// Market data or a panel file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataFileError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What it holds, or an option.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A panel that the market does not take.
    #[error(transparent)]
    Panel(#[from] DataError),
}

ktd_io::error_constructors!(DataFileError);
ktd_io::error_explanations!(DataFileError: File;
    Self::Panel(error) => (error.hint(), ErrorClass::InvalidInput),
);

/// A file without a line.
pub(crate) fn empty(file: &str) -> DataFileError {
    DataFileError::input(
        format_args!("{file} is empty"),
        "write the file again: its first line names the columns",
    )
}

/// A fault at a row of a file; rows count from 1.
pub(crate) fn at_row(file: &str, row: u64, message: impl std::fmt::Display) -> DataFileError {
    ktd_io::text_file::at_row(file, row, message).into()
}
