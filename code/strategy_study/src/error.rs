//! What can be wrong with judging a written strategy.

use ktd_asking::AskingError;
use ktd_boxed::BoxError;
use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};
use ktd_strategy_code::{ReferenceError, ScenarioError};
use ktd_study::StudyError;

/// A file, a document or a box with which no strategy can be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What was asked for.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The box.
    #[error(transparent)]
    Boxed(#[from] BoxError),
    /// A request to a model, and the record of what it answered.
    #[error(transparent)]
    Asking(#[from] AskingError),
    /// A panel or a table of bars.
    #[error(transparent)]
    Data(#[from] DataFileError),
    /// The keys of an experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The record of another study.
    #[error("{0}")]
    Study(StudyError),
    /// The reference strategy cannot run.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The reference program of a strategy of one's own does not do what it must: why, without the place of its folder.
    #[error("{0}")]
    OwnReference(String),
    /// A scenario cannot be drawn.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

impl From<StudyError> for StrategyError {
    fn from(error: StudyError) -> Self {
        Self::Study(error)
    }
}

ktd_io::error_constructors!(StrategyError);
ktd_io::error_explanations!(StrategyError: File, Boxed, Asking, Data, Experiment;
    Self::Study(error) => (error.hint(), error.class()),
    Self::Reference(_) => (
        "`ktd strategy-code show` prints a document with its parameters and assets",
        ErrorClass::InvalidInput
    ),
    Self::OwnReference(_) => (
        "fix reference.py: it must run on all scenarios and on the long run, the same at every seed, with every value that a \
         model may choose; a scenario named \"long\" stands for the long run",
        ErrorClass::InvalidInput
    ),
    Self::Scenario(_) => (
        "try another seed",
        ErrorClass::InvalidInput
    ),
);
