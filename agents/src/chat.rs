//! The provider-neutral conversation: what is asked, and what a model answered.

use ktd_masking::{Payload, Prompt, ToolSpec};
use serde_json::value::RawValue;
use std::sync::Arc;

/// One request to a chat model, before any provider's wire format.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// The provider's name of the model.
    pub model: String,
    /// The conversation, oldest first. Every tool call in it is answered directly after its turn.
    pub messages: Vec<Message>,
    /// The tools the model is told about, in a fixed order so that provider caches hold.
    pub tools: Arc<[ToolSpec]>,
    /// Whether and what the model must call.
    pub tool_choice: ToolChoice,
    /// How the reply is sampled.
    pub sampling: Sampling,
}

/// One message. Template text, payloads and the model's own words: no variant takes a `String`.
#[derive(Debug, Clone)]
pub enum Message {
    /// The harness's standing instructions.
    System(Prompt),
    /// The harness speaking.
    User(Prompt),
    /// The model's own earlier turn, sent back as it came.
    Assistant(Arc<ModelTurn>),
    /// The answer to one tool call of the turn before.
    Tool {
        /// The call answered.
        call_id: CallId,
        /// What the tool said, already masked.
        content: Payload,
    },
}

/// What the model is made to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    /// A tool or prose, as the model likes.
    Auto,
    /// No tool.
    None,
    /// Some tool.
    Required,
    /// This tool.
    Named(&'static str),
}

/// Requested sampling; what a provider does with it is its own affair.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sampling {
    /// Softmax temperature, dimensionless; absent leaves the provider's default.
    pub temperature: Option<f64>,
    /// The provider's best-effort seed.
    pub seed: Option<u64>,
    /// Upper bound on generated tokens, reasoning included.
    pub max_output_tokens: Option<u32>,
}

/// The identity of a tool call inside a conversation: the provider's own, or minted from the reply's bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub(crate) String);

impl CallId {
    /// The text that goes over the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A tool call as the model wrote it; nothing is repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// What its answer must refer to.
    pub id: CallId,
    /// The tool's name, which need not exist.
    pub name: String,
    /// The raw text of the arguments, which need not be JSON.
    pub arguments: String,
}

/// Why the model stopped. For information: whether it called a tool is decided by the calls alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It had said everything.
    Stop,
    /// It wanted tools.
    ToolCalls,
    /// The output budget ran out: text or arguments may be cut.
    Length,
    /// The provider's filter cut it.
    ContentFilter,
    /// The model declined.
    Refusal,
    /// A reason of the vendor's own, or none.
    Other,
}

/// Token counts as reported; `None` where the provider said nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the request, those from the cache included.
    pub prompt_tokens: Option<u64>,
    /// Tokens generated, reasoning included.
    pub completion_tokens: Option<u64>,
    /// Of the request's tokens, those read from the provider's cache.
    pub cached_tokens: Option<u64>,
    /// Of the generated tokens, those spent on reasoning.
    pub reasoning_tokens: Option<u64>,
}

/// A deviation from the wire format that was read without guessing. Never a model's mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Normalised {
    /// Arguments came as JSON instead of text; the JSON's own text is kept.
    ArgumentsNotText,
    /// Arguments were absent, null or empty and are read as `{}`.
    ArgumentsEmpty,
    /// A call had no id and one was minted.
    IdMinted,
    /// Two calls shared an id and the later was given a new one.
    IdReminted,
    /// Token counts were missing.
    UsageUnknown,
}

impl Normalised {
    /// The stable name used in records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::ArgumentsNotText => "arguments_not_text",
            Self::ArgumentsEmpty => "arguments_empty",
            Self::IdMinted => "id_minted",
            Self::IdReminted => "id_reminted",
            Self::UsageUnknown => "usage_unknown",
        }
    }
}

/// One reply of a model. Only a decoder makes one, so that run-time text of the harness cannot pose as one.
#[derive(Debug, Clone)]
pub struct ModelTurn {
    pub(crate) text: Option<String>,
    pub(crate) reasoning: Option<String>,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) stop: StopReason,
    pub(crate) usage: Usage,
    pub(crate) normalised: Vec<Normalised>,
    pub(crate) raw: Box<RawValue>,
}

impl ModelTurn {
    /// What it said, when it said something.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Its reasoning, when the provider shows it.
    #[must_use]
    pub fn reasoning(&self) -> Option<&str> {
        self.reasoning.as_deref()
    }

    /// The tools it called, in its order. Ids are unique inside the turn.
    #[must_use]
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.tool_calls
    }

    /// Why it stopped.
    #[must_use]
    pub const fn stop(&self) -> StopReason {
        self.stop
    }

    /// What it cost.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// What had to be normalised to read it.
    #[must_use]
    pub fn normalised(&self) -> &[Normalised] {
        &self.normalised
    }

    /// The assistant message as it came, in the format of the wire it came over, which goes back with every opaque field (`reasoning_content`, …) intact.
    /// Only a missing role and minted call ids differ from the provider's bytes.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// Whether there is nothing in it that the next request could carry.
    pub(crate) fn is_blank(&self) -> bool {
        self.tool_calls.is_empty() && self.text.as_deref().is_none_or(|text| text.trim().is_empty())
    }
}
