//! What can be wrong with asking a model.

use ktd_client::ClientError;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};
use ktd_record::RecordError;

/// Settings, a record or a request with which no model can be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskingError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What was asked for.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The keys of an agent.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The record of what models answered.
    #[error(transparent)]
    Bundle(#[from] RecordError),
    /// A request to a model.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A conversation could not be led to its end.
    #[error("agent {agent}, {what}: {source}")]
    Conversation {
        /// The agent.
        agent: String,
        /// The conversation. Steps that the cause names count requests' places in the agent's exchanges.
        what: String,
        /// What stopped it.
        source: Box<ClientError>,
    },
    /// What a record gives now is not what was written from it.
    #[error("{what}")]
    Difference {
        /// Which file, and where it differs.
        what: String,
        /// How to fix it.
        hint: &'static str,
    },
}

ktd_io::error_constructors!(AskingError);
ktd_io::error_explanations!(AskingError: File, Experiment, Bundle, Client;
    Self::Conversation { source, .. } => (source.hint(), source.class()),
    Self::Difference { hint, .. } => (*hint, ErrorClass::Difference),
);
