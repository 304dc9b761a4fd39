//! What can be wrong with a training.

use ktd_data::DataFileError;
use ktd_io::{FileError, InputError};

/// A panel or a span on which no predictor can be trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A span.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The market data.
    #[error(transparent)]
    Data(#[from] DataFileError),
}

ktd_io::error_constructors!(PredictError);
ktd_io::error_explanations!(PredictError: File, Data);
