//! What can be wrong with a simulation.

use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};

/// An order file that cannot be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A path or an option.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The market data.
    #[error(transparent)]
    Data(#[from] DataFileError),
}

ktd_io::error_constructors!(SimulateError);

impl SimulateError {
    /// How to fix it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::File(error) => error.hint(),
            Self::Input(error) => error.hint().unwrap_or_default().to_owned(),
            Self::Experiment(error) => error.hint(),
            Self::Data(error) => error.hint(),
        }
    }

    /// What it means for a command.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::File(error) => error.class(),
            Self::Experiment(error) => error.class(),
            Self::Data(error) => error.class(),
            Self::Input(_) => ErrorClass::InvalidInput,
        }
    }
}
