//! What can be wrong with an experiment.

use ktd_io::{FileError, InputError};

/// An experiment file, price table or option that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What it says.
    #[error(transparent)]
    Input(#[from] InputError),
}

ktd_io::error_constructors!(ExperimentError);
ktd_io::error_explanations!(ExperimentError: File);
