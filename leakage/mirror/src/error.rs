//! What can be wrong with an audit of the simulator.

use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_io::{FileError, InputError};

/// A panel or an experiment on which the simulator cannot be audited.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelfAuditError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What was asked for.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The market data.
    #[error(transparent)]
    Data(#[from] DataFileError),
}

ktd_io::error_constructors!(SelfAuditError);
ktd_io::error_explanations!(SelfAuditError: File, Experiment, Data);
