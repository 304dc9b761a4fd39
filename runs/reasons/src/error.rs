//! What can be wrong with a report of reasons.

use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_io::{FileError, InputError};
use ktd_record::RecordError;

/// A report of stated reasons that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReasonsError {
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

ktd_io::error_constructors!(ReasonsError);
ktd_io::error_explanations!(ReasonsError: File, Experiment, Data, Bundle);
