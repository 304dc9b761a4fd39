//! What can be wrong with an experiment.

use ktd_io::{ErrorClass, FileError, InputError};

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

impl ExperimentError {
    /// How to fix it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::File(error) => error.hint(),
            Self::Input(error) => error.hint().unwrap_or_default().to_owned(),
        }
    }

    /// What it means for a command.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::File(error) => error.class(),
            Self::Input(_) => ErrorClass::InvalidInput,
        }
    }
}
