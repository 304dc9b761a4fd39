//! What can be wrong with a study.

use ktd_agents::SessionError;
use ktd_bundle::BundleError;
use ktd_client::ClientError;
use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_formulas::FormulasError;
use ktd_io::{ErrorClass, FileError, InputError};

/// A file, a panel or a formula with which no study can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What was asked for.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The market data.
    #[error(transparent)]
    Data(#[from] DataFileError),
    /// Values of formulas.
    #[error(transparent)]
    Formulas(#[from] FormulasError),
    /// The keys of an agent.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The record of what models answered.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A request to a model.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A defect of this program.
    #[error("the session was driven wrongly: {0}")]
    Session(#[from] SessionError),
    /// A question to a model could not be put to its end.
    #[error("agent {agent}, {what}: {source}")]
    Asking {
        /// The agent.
        agent: String,
        /// The question. Steps that the cause names count requests' places in the agent's exchanges.
        what: String,
        /// What stopped it.
        source: Box<Self>,
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

ktd_io::error_constructors!(StudyError);
ktd_io::error_explanations!(StudyError: File, Data, Formulas, Experiment, Bundle, Client;
    Self::Session(_) => (
        "this is a defect of the program: report it",
        ErrorClass::InvalidInput
    ),
    Self::Asking { source, .. } => (source.hint(), source.class()),
    Self::Difference { hint, .. } => (*hint, ErrorClass::Difference),
);
