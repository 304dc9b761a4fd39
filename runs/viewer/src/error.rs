//! What can be wrong with what is to be shown.

use ktd_io::{FileError, InputError};
use ktd_record::RecordError;

/// Results that cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewerError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A path, an address or an option.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The record.
    #[error(transparent)]
    Bundle(#[from] RecordError),
}

ktd_io::error_constructors!(ViewerError);
ktd_io::error_explanations!(ViewerError: File, Bundle);
