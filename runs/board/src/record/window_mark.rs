//! Who knew the days of a masked window before it was opened.

use ktd_record::signer_mark::FINGERPRINT_DIGITS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Who knew the days of a masked window before it was opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowMark {
    /// Drawn, and on the number of another key too; its fingerprint.
    DrawnWith(String),
    /// Drawn by whoever ran it, who may have drawn until the windows pleased.
    DrawnByOperator,
    /// Anybody: a preset, dates that the file names, or days that another mask of the experiment shows.
    Public,
}

impl fmt::Display for WindowMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DrawnWith(fingerprint) => {
                let digits = fingerprint.get(..FINGERPRINT_DIGITS).unwrap_or(fingerprint);
                write!(f, "window drawn with a number of {digits}")
            }
            Self::DrawnByOperator => f.write_str("window drawn by its operator"),
            Self::Public => f.write_str("window public"),
        }
    }
}
