//! What can be wrong with a plan.

use ktd_client::ClientError;
use ktd_data::DataFileError;
use ktd_episode::EpisodeError;
use ktd_experiment::ExperimentError;
use ktd_io::{FileError, InputError};
use ktd_record::RecordError;

/// A plan or an estimate that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanningError {
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
    /// A request to a model.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// An episode.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
}

ktd_io::error_constructors!(PlanningError);
ktd_io::error_explanations!(PlanningError: File, Experiment, Data, Bundle, Client, Episode);
