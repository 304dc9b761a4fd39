//! What can be wrong with a plan.

use ktd_bundle::BundleError;
use ktd_client::ClientError;
use ktd_data::DataFileError;
use ktd_episode::EpisodeError;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};

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
    Bundle(#[from] BundleError),
    /// A request to a model.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// An episode.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
}

ktd_io::error_constructors!(PlanningError);

impl PlanningError {
    /// How to fix it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::File(error) => error.hint(),
            Self::Input(error) => error.hint().unwrap_or_default().to_owned(),
            Self::Experiment(error) => error.hint(),
            Self::Data(error) => error.hint(),
            Self::Bundle(error) => error.hint(),
            Self::Client(error) => error.hint(),
            Self::Episode(error) => error.hint(),
        }
    }

    /// What it means for a command.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::File(error) => error.class(),
            Self::Experiment(error) => error.class(),
            Self::Data(error) => error.class(),
            Self::Bundle(error) => error.class(),
            Self::Client(error) => error.class(),
            Self::Episode(error) => error.class(),
            Self::Input(_) => ErrorClass::InvalidInput,
        }
    }
}
