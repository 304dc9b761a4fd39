//! What can stop a request to a model.

use crate::money::CapReached;
use ktd_bundle::BundleError;
use ktd_bundle::exchanges::Nearest;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};

/// A request that was not answered, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A key, a program or an option.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The record.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The guard found hidden text in a request; it was not sent.
    #[error(
        "step {step}: a request holds a hidden {kind} at {pointer}; it was not sent and the episode was stopped"
    )]
    Leak {
        /// 1-based step.
        step: usize,
        /// Code, company name or date.
        kind: &'static str,
        /// JSON pointer into the request.
        pointer: String,
    },
    /// The provider does not take this configuration.
    #[error("step {step}: {detail}")]
    Configuration {
        /// 1-based step.
        step: usize,
        /// What the provider answered.
        detail: String,
        /// How to fix it.
        hint: &'static str,
    },
    /// The provider's account has no credit left. What is recorded stands; nothing was decided in this step.
    #[error("step {step}: the provider's account has no credit left: {detail}")]
    QuotaExhausted {
        /// 1-based step.
        step: usize,
        /// What the provider answered.
        detail: String,
    },
    /// The harness did not send back what the provider needs: a defect of this program, never of the model.
    #[error("step {step}: {detail}")]
    HarnessBug {
        /// 1-based step.
        step: usize,
        /// What the provider answered.
        detail: String,
    },
    /// The budget has no room for the next call; it was not made, and everything before it is kept. Neither a fault
    /// nor a decision of the model.
    #[error("step {step}: {reached}")]
    Budget {
        /// 1-based step.
        step: usize,
        /// Which cap, and what is spent of it.
        reached: Box<CapReached>,
    },
    /// The infrastructure failed until the attempts at a request were used up. What is recorded stands.
    #[error("the provider failed {attempts} times in a row, last with {code}")]
    Faults {
        /// Attempts made now and before.
        attempts: usize,
        /// The last fault.
        code: &'static str,
    },
}

ktd_io::error_constructors!(ClientError);

impl ClientError {
    /// A replay that needs a reply which was never recorded.
    #[must_use]
    pub fn not_recorded(step: usize, ordinal: u32, nearest: Option<Nearest>) -> Self {
        let nearest = nearest.map(Box::new);
        Self::Bundle(BundleError::NotRecorded {
            step,
            ordinal,
            nearest,
        })
    }

    /// How to fix it.
    #[must_use]
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::File(error) => return error.hint(),
            Self::Input(error) => error.hint().unwrap_or_default(),
            Self::Experiment(error) => return error.hint(),
            Self::Bundle(error) => return error.hint(),
            Self::Leak { .. } => "this is a defect of the mask: report it with the bundle's header.json",
            Self::Configuration { hint, .. } => hint,
            Self::Budget { .. } => {
                "raise the cap under [budget] and run the same command again: it continues where it stopped"
            }
            Self::Faults { .. } => {
                "wait, then give the same command again: it asks this request anew and keeps all answers"
            }
            Self::QuotaExhausted { .. } => {
                "add credit to the provider's account, then give the same command again: it continues here"
            }
            Self::HarnessBug { .. } => {
                "this is a defect of the program: report it with the bundle's last exchange"
            }
        };
        hint.to_owned()
    }

    /// What it means for a command.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::File(error) => error.class(),
            Self::Experiment(error) => error.class(),
            Self::Bundle(error) => error.class(),
            Self::Leak { .. } => ErrorClass::Difference,
            Self::Budget { .. } => ErrorClass::Budget,
            Self::Input(_)
            | Self::Configuration { .. }
            | Self::QuotaExhausted { .. }
            | Self::HarnessBug { .. }
            | Self::Faults { .. } => ErrorClass::InvalidInput,
        }
    }
}
