//! Chat models and the session that drives one step of them.
//!
//! What a model is told is compiled-in template text, a [`ktd_masking::Payload`], or its own earlier words:
//! [`Message`] has no other variant, and only a decoder makes a [`ModelTurn`].
//!
//! Knows: `masking` (`Payload`, `Prompt`, `ToolSpec`). Never knows: real names and days, `Mask`, tools' code,
//! prompt texts, files, the environment, a clock. Everything is pure but [`HttpTransport`].

pub mod builtin;
mod chat;
mod http;
mod session;
mod transport;
mod wire;

pub use chat::{
    CallId, ChatRequest, Message, ModelTurn, Normalised, Sampling, StopReason, ToolCall, ToolChoice, Usage,
};
pub use http::{HttpSettings, HttpTransport, SetupError};
pub use session::{
    Attempt, ModelFault, Outcome, Research, ResearchEffect, SUBMIT_ACTION, Session, SessionError,
    SessionLimits, SessionTexts, StepPlan, Submission, SubmissionEffect, Tally, ToolAnswer,
};
pub use transport::{Transport, TransportError, WireReply};
pub use wire::{FaultClass, FaultKind, ReplyFault, WireRequest, openai};
