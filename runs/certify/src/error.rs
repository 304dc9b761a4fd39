//! What can be wrong with a certificate.

use ktd_agents::SessionError;
use ktd_client::ClientError;
use ktd_data::DataFileError;
use ktd_episode::EpisodeError;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};
use ktd_probes::judge::ThresholdError;
use ktd_record::RecordError;
use ktd_study::StudyError;
use std::path::PathBuf;

/// Error of a certificate that cannot be made or proves nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertifyError {
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
    /// A unit of its study.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// An episode.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// A certificate that proves nothing: it is not one, it is not its signer's, or it does not follow from what it says.
    #[error("{}: {what}", .path.display())]
    Untrusted {
        /// The certificate.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// How to fix it.
        hint: &'static str,
    },
    /// Counts or a confidence from which no share can be judged.
    #[error(transparent)]
    Statistics(#[from] ktd_stats::StatsError),
    /// A threshold.
    #[error(transparent)]
    Threshold(#[from] ThresholdError),
    /// A defect of this program.
    #[error("the session was driven wrongly: {0}")]
    Session(#[from] SessionError),
    /// A language model's attack on a probe could not go on.
    #[error("attacker {attacker}, probe {probe}: {source}")]
    Attack {
        /// The agent.
        attacker: String,
        /// Kind and number of the probe, such as `day-17`. Steps that the cause names count requests' places in the
        /// attacker's exchanges.
        probe: String,
        /// What stopped it.
        source: Box<Self>,
    },
}

ktd_io::error_constructors!(CertifyError);
ktd_io::error_explanations!(CertifyError: File, Experiment, Data, Bundle, Client, Episode;
    Self::Untrusted { hint, .. } => (*hint, ErrorClass::Difference),
    Self::Statistics(error) => (error.hint(), ErrorClass::InvalidInput),
    Self::Threshold(error) => (error.hint(), ErrorClass::InvalidInput),
    Self::Study(error) => (error.hint(), error.class()),
    Self::Session(_) => (
        "this is a defect of the program: report it",
        ErrorClass::InvalidInput
    ),
    Self::Attack { source, .. } => (source.hint(), source.class()),
);
