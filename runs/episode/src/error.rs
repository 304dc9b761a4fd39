//! What can stop an episode.

use ktd_agents::SessionError;
use ktd_client::ClientError;
use ktd_data::DataFileError;
use ktd_env::AmountTooLarge;
use ktd_experiment::ExperimentError;
use ktd_formulas::FormulasError;
use ktd_io::{ErrorClass, FileError, InputError};
use ktd_record::RecordError;

/// An episode, a replay or a verification that could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EpisodeError {
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
    /// Values of formulas.
    #[error(transparent)]
    Formulas(#[from] FormulasError),
    /// The record.
    #[error(transparent)]
    Bundle(#[from] RecordError),
    /// A request to a model.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// An account that cannot be counted.
    #[error("cell {cell}, step {step}: {source}")]
    Amount {
        /// Which cell.
        cell: String,
        /// Counted from 1.
        step: usize,
        /// What passed which bound.
        source: AmountTooLarge,
    },
    /// A defect of this program.
    #[error("the session was driven wrongly: {0}")]
    Session(#[from] SessionError),
    /// A defect of this program: a broken invariant stopped the cell.
    #[error("cell {cell}: a broken invariant stopped it (its message is on standard error)")]
    Panicked {
        /// Which cell.
        cell: String,
    },
}

ktd_io::error_constructors!(EpisodeError);
ktd_io::error_explanations!(EpisodeError: File, Experiment, Data, Formulas, Bundle, Client;
    Self::Amount { source, .. } => (source.hint(), ErrorClass::InvalidInput),
    Self::Session(_) | Self::Panicked { .. } => (
        "this is a defect of the program: report it",
        ErrorClass::InvalidInput
    ),
);
