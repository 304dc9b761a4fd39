//! What can be wrong with a study.

use ktd_agents::SessionError;
use ktd_asking::AskingError;
use ktd_client::ClientError;
use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_formulas::FormulasError;
use ktd_io::{ErrorClass, FileError, InputError};
use ktd_record::RecordError;

/// A file, a panel or a formula with which no study can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaStudyError {
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
    Bundle(#[from] RecordError),
    /// A request to a model.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A defect of this program.
    #[error("the session was driven wrongly: {0}")]
    Session(#[from] SessionError),
    /// Models and the record of what they answered.
    #[error(transparent)]
    Asking(#[from] AskingError),
    /// A question to a model could not be put to its end.
    #[error("agent {agent}, {what}: {source}")]
    Question {
        /// The agent.
        agent: String,
        /// The question. Steps that the cause names count requests' places in the agent's exchanges.
        what: String,
        /// What stopped it.
        source: Box<Self>,
    },
}

ktd_io::error_constructors!(FormulaStudyError);
ktd_io::error_explanations!(FormulaStudyError: File, Data, Formulas, Experiment, Bundle, Client, Asking;
    Self::Session(_) => (
        "this is a defect of the program: report it",
        ErrorClass::InvalidInput
    ),
    Self::Question { source, .. } => (source.hint(), source.class()),
);
