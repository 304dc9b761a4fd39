//! The step before a step: why it traded or did not, and what the exchange did.

use ktd_env::Fen;
use ktd_env::exchange::StepReport;

/// Why the step before traded or did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastStepKind {
    /// Orders were submitted.
    Orders,
    /// An empty list was submitted: a decision to hold.
    Hold,
    /// No valid submission within the retries, so nothing was traded.
    Fallback,
    /// The model could not be reached, so nothing was traded. Not the model's doing.
    Fault,
}

impl LastStepKind {
    /// The stable text.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Hold => "hold",
            Self::Fallback => "fallback_no_trade",
            Self::Fault => "no_answer_no_trade",
        }
    }
}

/// The step before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastStep {
    /// Its number, 1-based. Its trading day is this step's as-of day.
    pub step: usize,
    /// Why it traded or did not.
    pub kind: LastStepKind,
    /// Net asset value before it.
    pub nav_before: Fen,
    /// What the exchange did.
    pub report: StepReport,
}
