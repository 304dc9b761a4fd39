//! What can be wrong with a board.

use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_io::{FileError, InputError};
use ktd_record::RecordError;

/// A board or an attribution that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
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
    /// The record.
    #[error(transparent)]
    Bundle(#[from] RecordError),
}

ktd_io::error_constructors!(BoardError);
ktd_io::error_explanations!(BoardError: File, Experiment, Data, Bundle);
