//! What can stop a request to a model.

use crate::cap_reached::CapReached;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};
use ktd_record::RecordError;
use ktd_record::exchanges::Nearest;

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
    Bundle(#[from] RecordError),
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
    /// The unit is not this process's any more, or cannot be proved to be: the call was not made, and what is recorded stands.
    #[error("step {step}: {why}")]
    Lease {
        /// 1-based step.
        step: usize,
        /// What the server said.
        why: String,
    },
    /// The endpoint has answered nobody for as long as one waits. What is recorded stands; nothing was decided in this step.
    #[error("step {step}: {}, last `{code}`", nobody_answered(*.hours))]
    Unanswered {
        /// 1-based step.
        step: usize,
        /// The last fault.
        code: &'static str,
        /// `unanswered_hours`; `None` for an endpoint that has never answered.
        hours: Option<u32>,
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
ktd_io::error_explanations!(ClientError: File, Experiment, Bundle;
    Self::Leak { .. } => (
        "this is a defect of the mask: report it with the bundle's header.json",
        ErrorClass::Difference
    ),
    Self::Configuration { hint, .. } => (*hint, ErrorClass::InvalidInput),
    Self::QuotaExhausted { .. } => (
        "add credit to the provider's account, then give the same command again: it continues here",
        ErrorClass::InvalidInput
    ),
    Self::HarnessBug { .. } => (
        "this is a defect of the program: report it with the bundle's last exchange",
        ErrorClass::InvalidInput
    ),
    Self::Budget { .. } => (
        "raise the cap under `[budget]` of the experiment file (of a branch: `--budget`), and give the same command again",
        ErrorClass::Budget
    ),
    Self::Lease { .. } => (
        "another worker goes on with it",
        ErrorClass::Difference
    ),
    Self::Unanswered { .. } => (
        "look at the endpoint with `ktd doctor`; the same command goes on at this step",
        ErrorClass::InvalidInput
    ),
    Self::Faults { .. } => (
        "wait, then give the same command again: it asks this request anew and keeps all answers",
        ErrorClass::InvalidInput
    ),
);

fn nobody_answered(hours: Option<u32>) -> String {
    hours.map_or_else(
        || "the endpoint has never answered".to_owned(),
        |hours| format!("nobody answered for {hours} hours"),
    )
}

impl ClientError {
    /// A replay that needs a reply which was never recorded.
    #[must_use]
    pub fn not_recorded(step: usize, ordinal: u32, nearest: Option<Nearest>) -> Self {
        let nearest = nearest.map(Box::new);
        Self::Bundle(RecordError::NotRecorded {
            step,
            ordinal,
            nearest,
        })
    }
}
