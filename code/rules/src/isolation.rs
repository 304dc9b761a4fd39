//! How much stands between a job and the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The level of isolation of a box. None is ever taken in place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Namespaces, a read-only root, Landlock and both filters: a run counts.
    Bwrap,
    /// Landlock and both filters, where namespaces are blocked: a run counts, and tables show it.
    Landlock,
    /// Nothing but a fork a run: every row is marked, and nothing is ranked.
    None,
}

impl Isolation {
    /// Its name in records.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }

    /// Whether what runs in it may be compared and ranked.
    #[must_use]
    pub const fn counts(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// One layer of a box that a test leaves out, to see that the self-test misses it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchedOff {
    /// The filter of the whole box.
    BoxFilter,
    /// The filter of a job.
    JobFilter,
    /// The rules of Landlock.
    Landlock,
    /// The read-only root: a file can be made in the working directory.
    ReadOnly,
    /// The network of its own.
    Network,
}
