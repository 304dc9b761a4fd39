//! The provider-neutral conversation: what is asked, and what a model answered.

use crate::arguments::Arguments;
use crate::usage::{Usage, UsageBound};
use crate::words::{Masked, Words};
use ktd_masking::ToolSpec;
use serde_json::value::RawValue;
use std::sync::Arc;

/// One request to a chat model, before any provider's wire format.
#[derive(Debug, Clone)]
pub struct ChatRequest<W: Words = Masked> {
    /// The provider's name of the model.
    pub model: String,
    /// The conversation, oldest first. Every tool call in it is answered directly after its turn.
    pub messages: Vec<Message<W>>,
    /// The tools offered to the model, in a fixed order so that provider caches hold; see
    /// [`ToolChoice::Withdrawn`].
    pub tools: Arc<[ToolSpec]>,
    /// Whether and what the model must call.
    pub tool_choice: ToolChoice,
    /// What form the model's text must have.
    pub reply_format: ReplyFormat,
    /// Whether the model thinks before it answers.
    pub thinking: Thinking,
    /// How the reply is sampled.
    pub sampling: Sampling,
    /// Groups requests that share a prefix, for providers that take such a hint. It names no day and no stock.
    pub cache_key: Option<String>,
}

impl<W: Words> ChatRequest<W> {
    /// The tools that are shown where no wire's law says otherwise.
    pub(crate) fn shown_tools(&self) -> &[ToolSpec] {
        match self.tool_choice {
            ToolChoice::Withdrawn => &[],
            ToolChoice::Auto | ToolChoice::None | ToolChoice::Required | ToolChoice::Named(_) => &self.tools,
        }
    }
}

/// One message. Masked text and the model's own words: of [`Masked`] words, no variant takes a `String`.
#[derive(Debug, Clone)]
pub enum Message<W: Words = Masked> {
    /// The harness's standing instructions.
    System(W::Prompt),
    /// The harness speaking.
    User(W::Prompt),
    /// The model's own earlier turn, sent back as it came.
    Assistant(Arc<ModelTurn>),
    /// The answer to one tool call of the turn before.
    Tool {
        /// The call answered.
        call_id: CallId,
        /// What the tool answered.
        content: W::Payload,
    },
}

/// What the model is made to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    /// A tool or prose, as the model likes.
    Auto,
    /// No tool.
    None,
    /// No tool, and none is shown: the answer is text. A wire on which the calls of earlier turns must stay defined
    /// shows them still, and forbids them.
    Withdrawn,
    /// Some tool.
    Required,
    /// This tool.
    Named(&'static str),
}

/// The form that the model's text must have, where the provider takes one.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyFormat {
    /// Whatever the model likes.
    Free,
    /// One JSON object that are this tool's arguments.
    Arguments(ToolSpec),
}

/// A request to think or not to think. Most thinking models refuse a forced call while they think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinking {
    /// Nothing is requested; the provider's default holds.
    #[default]
    VendorDefault,
    /// It is switched on.
    On,
    /// It is switched off.
    Off,
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

/// A tool call as the model wrote it, after the repairs that its turn lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// What its answer must refer to.
    pub id: CallId,
    /// The tool's name, which need not exist.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: Arguments,
}

/// Why the model stopped. For information: whether it called a tool is decided by the calls alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum StopReason {
    /// The answer was complete.
    Stop,
    /// It wanted tools.
    ToolCalls,
    /// The output budget ran out: text or arguments may be cut.
    Length,
    /// The provider's filter cut it.
    ContentFilter,
    /// The model declined.
    Refusal,
    /// The provider says that the model wrote a call that it could not read.
    MalformedCall,
    /// A reason of the vendor's own, or none.
    Other,
}

impl StopReason {
    /// The stable name used in records.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// A deviation that was read without guessing.
///
/// Most are the provider's and count nowhere. A *repair* ([`Self::is_repair`]) is of the model's own words: what was
/// submitted after a repair counts as good in the lenient column and as bad in the strict one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Normalised {
    /// Arguments came as JSON instead of text; the JSON's own text is kept.
    #[strum(serialize = "object_arguments")]
    ArgumentsNotText,
    /// Arguments were absent, null or empty and are read as `{}`.
    #[strum(serialize = "empty_object")]
    ArgumentsEmpty,
    /// A call had no id and one was minted.
    IdMinted,
    /// Two calls shared an id and the later was given a new one.
    IdReminted,
    /// Token counts were missing.
    UsageUnknown,
    /// Token counts were beyond what was sent and allowed; the bound counts instead.
    UsageImplausible,
    /// Repair: the arguments were a JSON text that holds the JSON object; one layer was taken off.
    DoubleEncoded,
    /// Repair: the arguments were the same bytes twice; one half was taken.
    Duplicated,
    /// Repair: the name had a template token after it (`<|...`), which was cut off.
    NameSuffix,
    /// Repair: the call or the JSON object stood inside other text and was taken out.
    Extracted,
}

impl Normalised {
    /// The stable name used in records.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }

    /// Whether the model's own words were repaired, and not only the provider's wrapping.
    #[must_use]
    pub const fn is_repair(self) -> bool {
        matches!(
            self,
            Self::DoubleEncoded | Self::Duplicated | Self::NameSuffix | Self::Extracted
        )
    }
}

/// One reply of a model. Only a decoder makes one, so that run-time text of the harness cannot pose as one.
#[derive(Debug, Clone)]
pub struct ModelTurn {
    pub(crate) text: Option<String>,
    pub(crate) reasoning: Option<String>,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) calls_dropped: usize,
    pub(crate) stop: StopReason,
    pub(crate) usage: Usage,
    pub(crate) normalised: Vec<Normalised>,
    pub(crate) served: Served,
    pub(crate) raw: Box<RawValue>,
}

/// What the provider says about who answered; a change of it inside a run is drift.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Served {
    /// The model's name as the provider reports it.
    pub model: Option<String>,
    /// The provider's fingerprint of its own configuration.
    pub fingerprint: Option<String>,
    /// Why the model stopped, in the provider's own word.
    pub stop_reason: Option<String>,
}

impl ModelTurn {
    /// The text of the turn, where there is any.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Its reasoning, when the provider shows it.
    #[must_use]
    pub fn reasoning(&self) -> Option<&str> {
        self.reasoning.as_deref()
    }

    /// The tools it called, in its order, at most [`crate::CALLS_PER_REPLY_MAX`]. Ids are unique inside the turn.
    #[must_use]
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.tool_calls
    }

    /// Calls beyond [`crate::CALLS_PER_REPLY_MAX`], which are not among [`Self::tool_calls`] and never go back.
    #[must_use]
    pub const fn calls_dropped(&self) -> usize {
        self.calls_dropped
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

    /// Who answered, as far as the provider says.
    #[must_use]
    pub const fn served(&self) -> &Served {
        &self.served
    }

    /// The assistant message as it came, in the format of the wire it came over, which goes back with every opaque field (`reasoning_content`, …) intact.
    /// Only a missing role and minted call ids differ from the provider's bytes.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// Replaces token counts that cannot be by their bound, and says so.
    pub(crate) fn bound_usage(&mut self, bound: UsageBound) {
        if let Some(bounded) = self.usage.beyond(bound) {
            self.usage = bounded;
            self.normalised.push(Normalised::UsageImplausible);
            self.normalised.sort_unstable();
        }
    }

    /// Whether there is nothing in it that the next request could carry.
    pub(crate) fn is_blank(&self) -> bool {
        self.tool_calls.is_empty() && self.text.as_deref().is_none_or(|text| text.trim().is_empty())
    }
}
