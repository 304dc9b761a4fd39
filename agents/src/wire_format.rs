//! The wire formats by name.

use serde::{Deserialize, Serialize};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

    /// The name used in experiments and records.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat-completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::GenerateContent => "generate-content",
        }
    }

    /// The wire of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.label() == text)
    }
}
