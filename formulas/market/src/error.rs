//! What can be wrong with formulas over a market.

use ktd_data::DataFileError;
use ktd_io::{FileError, InputError};

/// A pool, a formula or a market that has no values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormulasError {
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

ktd_io::error_constructors!(FormulasError);
ktd_io::error_explanations!(FormulasError: File, Data);
