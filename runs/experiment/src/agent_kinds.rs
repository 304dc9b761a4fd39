//! Agents that are no model behind an endpoint.

use crate::ExperimentError;
use ktd_baselines::NAMES;
use serde::{Deserialize, Serialize};

/// A control: it tells how far skill could go, and proves that the board sees skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Perfect foresight of the next opens.
    Oracle,
}

/// How an outside agent calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum External {
    /// The Model Context Protocol, over standard streams.
    Mcp,
}

/// Whether there is a built-in agent of this name.
///
/// # Errors
/// [`ExperimentError::Input`] with the names there are.
pub fn check_builtin(name: &str) -> Result<(), ExperimentError> {
    if name == "cheater" || NAMES.contains(&name) {
        return Ok(());
    }
    let known = NAMES.join(", ");
    let what = format!("there is no built-in agent {name:?}");
    Err(ExperimentError::input(
        what,
        format!("it is one of {known}, cheater"),
    ))
}
