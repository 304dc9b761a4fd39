//! Wire formats: pure translations between [`crate::ChatRequest`], bytes, and [`crate::ModelTurn`].
//!
//! One folder a format, with the same files in each: `encode`, `decode`, and `stream`, which puts an event stream
//! together to the reply that it stands for. What a vendor spells in its own way is data: [`crate::Dialect`].

mod body;
mod calls;
mod chat_completions;
mod envelope;
mod events;
mod fault;
mod fault_kind;
mod generate_content;
mod messages;
mod raw_object;
mod responses;
mod schema;
mod text;
mod wait;

pub use calls::CALLS_PER_REPLY_MAX;
pub use envelope::{REPLY_BYTES_MAX, REPLY_DEPTH_MAX, REPLY_ITEMS_MAX};
pub use fault::ReplyFault;
pub use fault_kind::{FaultClass, FaultKind};
pub use wait::wait_of;

use crate::chat::{ChatRequest, ModelTurn, StopReason};
use crate::dialect::Dialect;
use crate::usage::UsageBound;
use crate::wire_format::Wire;
use crate::words::Words;
use envelope::{Content, Opened, open};
use text::rendered;

impl Wire {
    /// The bound on generated tokens that a request carries when the experiment names `wanted`.
    #[must_use]
    pub fn max_output_tokens(self, wanted: Option<u32>) -> Option<u32> {
        match self {
            Self::Messages => wanted.or(Some(messages::MAX_TOKENS_DEFAULT)),
            Self::ChatCompletions | Self::Responses | Self::GenerateContent => wanted,
        }
    }

    /// The bytes of `request` as `dialect` wants them. The same request gives the same bytes on every machine.
    #[must_use]
    pub fn encode<W: Words>(self, request: &ChatRequest<W>, dialect: &Dialect) -> WireRequest {
        let request = &rendered(request, self);
        match self {
            Self::ChatCompletions => chat_completions::encode(request, dialect),
            Self::Responses => responses::encode(request, dialect),
            Self::Messages => messages::encode(request, dialect),
            Self::GenerateContent => generate_content::encode(request, dialect),
        }
    }

    /// Reads a reply: JSON, or an event stream, which is put together first.
    ///
    /// What can be read without guessing is read and listed in [`ModelTurn::normalised`]. Whether the model called a
    /// tool is decided by the calls, never by the stop reason.
    ///
    /// # Errors
    /// [`ReplyFault`] when the reply holds no turn of the model. A model's own mistakes are never a fault: bad
    /// arguments and unknown tools are part of the turn.
    pub fn decode(self, status: u16, body: &[u8], dialect: &Dialect) -> Result<ModelTurn, ReplyFault> {
        let Opened {
            status,
            content,
            digest,
        } = open(status, body)?;
        let envelope = match content {
            Content::Json(envelope) => envelope,
            Content::Stream(events) => match self {
                Self::ChatCompletions => chat_completions::assemble(status, &events)?,
                Self::Responses => responses::assemble(status, &events)?,
                Self::Messages => messages::assemble(status, &events)?,
                Self::GenerateContent => generate_content::assemble(status, &events)?,
            },
        };
        let turn = match self {
            Self::ChatCompletions => chat_completions::decode(&envelope, status, digest, dialect)?,
            Self::Responses => responses::decode(&envelope, status, digest, dialect)?,
            Self::Messages => messages::decode(&envelope, status, digest, dialect)?,
            Self::GenerateContent => generate_content::decode(&envelope, status, digest)?,
        };
        if is_zero_output(&turn) {
            return Err(ReplyFault::zero_output(status, turn));
        }
        Ok(turn)
    }
}

/// No text, no reasoning, no token generated: the provider's hiccup rather than the model's silence.
fn is_zero_output(turn: &ModelTurn) -> bool {
    let has_generated = 0 < turn.usage().output();
    let has_thought = turn.reasoning().is_some_and(|text| !text.is_empty());
    let was_cut = matches!(
        turn.stop(),
        StopReason::Length | StopReason::ContentFilter | StopReason::Refusal | StopReason::MalformedCall
    );
    turn.is_blank() && !has_generated && !has_thought && !was_cut
}

/// A request as it will be sent. Only an encoder makes one, so its bytes are what was hashed and scanned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    path: String,
    body: Vec<u8>,
    max_output_tokens: Option<u32>,
}

impl WireRequest {
    pub(crate) const fn new(path: String, body: Vec<u8>, max_output_tokens: Option<u32>) -> Self {
        Self {
            path,
            body,
            max_output_tokens,
        }
    }

    /// The most tokens that its reply can have used.
    #[must_use]
    pub fn usage_bound(&self) -> UsageBound {
        UsageBound::of(self.body.len(), self.max_output_tokens)
    }

    /// The path below the provider's base URL, with a leading slash.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The JSON body: keys in a fixed order, no white space of ours, the same bytes for the same request.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

#[cfg(test)]
mod cap_tests;
#[cfg(test)]
mod openai_types_tests;
