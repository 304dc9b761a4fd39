//! The tools of a run.

use crate::ExperimentError;
use ktd_tools::{ToolLimits, Toolbox};
use std::sync::Arc;

/// The tools of some limits, their validators compiled once.
///
/// # Errors
/// [`ExperimentError::Input`] when a tool's own schema does not compile: a defect of this program.
pub fn toolbox(limits: &ToolLimits) -> Result<Arc<Toolbox>, ExperimentError> {
    Toolbox::of(limits)
        .map(Arc::new)
        .map_err(|error| ExperimentError::input(error.to_string(), "report this defect"))
}
