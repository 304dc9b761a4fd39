//! What can be wrong with a simulation.

use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_io::{FileError, InputError};

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
ktd_io::error_explanations!(SimulateError: File, Experiment, Data);
