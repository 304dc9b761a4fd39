//! What can be wrong with a certificate.

use ktd_agents::SessionError;
use ktd_bundle::BundleError;
use ktd_client::ClientError;
use ktd_data::DataFileError;
use ktd_episode::EpisodeError;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};
use ktd_probes::judge::ThresholdError;
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
    Bundle(#[from] BundleError),
    /// A request to a model.
    #[error(transparent)]
    Client(#[from] ClientError),
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
    Statistics(#[from] ktd_stats::InputError),
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

impl CertifyError {
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
            Self::Untrusted { hint, .. } => (*hint).to_owned(),
            Self::Statistics(error) => error.hint().to_owned(),
            Self::Threshold(error) => error.hint().to_owned(),
            Self::Session(_) => "this is a defect of the program: report it".to_owned(),
            Self::Attack { source, .. } => source.hint(),
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
            Self::Attack { source, .. } => source.class(),
            Self::Untrusted { .. } => ErrorClass::Difference,
            Self::Input(_) | Self::Statistics(_) | Self::Threshold(_) | Self::Session(_) => {
                ErrorClass::InvalidInput
            }
        }
    }
}
