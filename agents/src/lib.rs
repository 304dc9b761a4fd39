//! Chat models and the session that drives one step of them.
//!
//! What a model reads is compiled-in template text, a [`ktd_masking::Payload`], or its own earlier words: [`Message`]
//! has no other variant, and only a decoder makes a [`ModelTurn`]. The types of a conversation are generic over the kind
//! of text, [`Words`], which is [`Masked`] unless another is named.
//!
//! Knows: `masking` (`Payload`, `Prompt`, `ToolSpec`). Never knows: real names and days, `Mask`, tools' code,
//! prompt texts, files, the environment, a clock. Everything is pure but [`HttpTransport`].

mod arguments;
mod chat;
mod dialect;
mod force;
mod http;
mod model_fault;
mod reply;
mod session;
mod text_conversation;
mod transport;
mod usage;
mod verdict;
mod wire;
mod wire_format;
mod words;

/// The tool that the built-in agents submit through.
pub const SUBMIT_ACTION: &str = "submit_action";

/// How much a JSON text holds and how deeply it is nested, for who records a reply and knows no mask.
pub use ktd_masking::JsonExtent;

pub use arguments::{
    ARGUMENTS_BYTES_MAX, ARGUMENTS_DEPTH_MAX, ARGUMENTS_ITEMS_MAX, Arguments, ArgumentsForm,
};
pub use chat::{
    CallId, ChatRequest, Message, ModelTurn, Normalised, ReplyFormat, Sampling, Served, StopReason, Thinking,
    ToolCall, ToolChoice,
};
pub use dialect::{
    Auth, CacheHints, Dialect, DialectTable, Endpoint, ForceLimits, JsonFormat, MaxTokens, Pinned, Reasoning,
    TableError, TemperatureLimits, ThinkingSwitch, UsageLaws,
};
pub use force::{ForceLevel, ThinkingPolicy};
pub use http::{HttpSettings, HttpTransport, ProxySettings, SetupError, Unreachable, reach};
pub use model_fault::ModelFault;
pub use reply::DecodedReply;
pub use session::{
    Attempt, Mistakes, Outcome, Research, ResearchEffect, Session, SessionError, SessionLimits, SessionTexts,
    StepPlan, Submission, SubmissionEffect, Tally, ToolAnswer,
};
pub use text_conversation::{TextConversation, TextPlan};
pub use transport::{Transport, TransportError, WireReply};
pub use usage::{PROMPT_TOKENS_OVERHEAD, Usage, UsageBound, UsageSource};
pub use verdict::{Expected, Verdict, arguments_of_printed_call, fault_of_turn, object_in_text, parser_leak};
pub use wire::wait_of as wait_seconds;
pub use wire::{
    CALLS_PER_REPLY_MAX, FaultClass, FaultKind, REPLY_BYTES_MAX, REPLY_DEPTH_MAX, REPLY_ITEMS_MAX,
    ReplyFault, WireRequest,
};
pub use wire_format::Wire;
pub use words::{Masked, Words};
