//! The force ladder: how strongly a model is made to call `submit_action`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a submission is forced. The order is that of the ladder: the first is the strongest.
///
/// It is declared in the experiment, recorded with every emission and shown in every table; a run never lowers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ForceLevel {
    /// A named `tool_choice`; all tools stay listed.
    #[serde(rename = "F0")]
    Named,
    /// Some tool is required, and only `submit_action` is listed.
    #[serde(rename = "F1")]
    Required,
    /// The choice is free, only `submit_action` is listed, and the text says to call it.
    #[serde(rename = "F2")]
    Auto,
    /// No tools: one JSON object, in a reply format where the provider has one.
    #[serde(rename = "F3")]
    Json,
    /// No tools: text that holds one JSON object.
    #[serde(rename = "F4")]
    Text,
}

impl ForceLevel {
    /// All levels, the strongest first.
    pub const LADDER: [Self; 5] = [Self::Named, Self::Required, Self::Auto, Self::Json, Self::Text];

    /// `F0` to `F4`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Named => "F0",
            Self::Required => "F1",
            Self::Auto => "F2",
            Self::Json => "F3",
            Self::Text => "F4",
        }
    }

    /// The level of that label.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::LADDER.into_iter().find(|level| level.label() == text)
    }

    /// Whether the server itself promises a call: a call that comes as text is then the server's fault.
    #[must_use]
    pub const fn is_enforced(self) -> bool {
        matches!(self, Self::Named | Self::Required)
    }

    /// Whether the submission is a tool call at all.
    #[must_use]
    pub const fn is_by_call(self) -> bool {
        !matches!(self, Self::Json | Self::Text)
    }
}

impl fmt::Display for ForceLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.label())
    }
}

/// When a model thinks. A policy of the experiment, because thinking and forcing exclude each other at most vendors.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkingPolicy {
    /// Nothing is requested; the vendor's default holds.
    #[default]
    VendorDefault,
    /// On throughout.
    Always,
    /// Off throughout.
    Never,
    /// On in research, off for the submission, which opens a new turn: think, then force.
    ThinkThenForce,
}

impl ThinkingPolicy {
    /// The word by which experiment files name it.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}
