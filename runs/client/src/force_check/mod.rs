//! What an endpoint really honours of the force ladder, measured with a few tiny calls before a run.
//!
//! Documents are silent or wrong about it at most vendors, and a level that is not honoured looks like a model that
//! cannot fill in a form. So a level is declared, probed, and never lowered during a run.

mod ladder;
mod measurement;
mod record;
mod standing;
mod talk;

pub use ladder::{CALLS_MAX, measure};
pub use measurement::{Measurement, Probed, measurement_payer};
pub use record::{CallResult, ProbeRecord, ProbedCall, endpoint_sha256, exchanges_folder, probe_path};
pub use standing::{ForceStanding, notes, standing};
pub use talk::{TINY_OUTPUT_TOKENS, TINY_THINKING_TOKENS, thinks_while_submitting};

#[cfg(test)]
mod tests;
