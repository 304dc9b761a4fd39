//! The wire formats by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A wire format.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// `POST /chat/completions`, which most vendors and local servers speak.
    ChatCompletions,
    /// `POST /responses`, `OpenAI`'s newer one.
    Responses,
    /// `POST /v1/messages`, Anthropic's.
    Messages,
    /// `POST /models/MODEL:generateContent`, Gemini's.
    GenerateContent,
}

impl Wire {
    /// All wires.
    pub const ALL: [Self; 4] = [
        Self::ChatCompletions,
        Self::Responses,
        Self::Messages,
        Self::GenerateContent,
    ];

    /// The wire of a request's path, whatever stands before it; `None` where it is the path of none.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let bare = path.split('?').next().unwrap_or(path).trim_end_matches('/');
        if bare.ends_with("/chat/completions") {
            Some(Self::ChatCompletions)
        } else if bare.ends_with("/responses") {
            Some(Self::Responses)
        } else if bare.ends_with("/messages") {
            Some(Self::Messages)
        } else if bare.ends_with(":generateContent") || bare.ends_with(":streamGenerateContent") {
            Some(Self::GenerateContent)
        } else {
            None
        }
    }

    /// The name used in experiments and records.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// The wire of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.label() == text)
    }
}
