//! Agents that are no model behind an endpoint.

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
