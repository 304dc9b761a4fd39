//! Judgement of what attackers recovered.

mod mark;
mod terms;
mod thresholds;

pub use mark::{CertificateSummary, Mark, MarkStanding};
pub use terms::{DEFAULT_CONFIDENCE, Terms};
pub use thresholds::{ThresholdError, Thresholds, shows};
