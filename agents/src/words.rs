//! The kinds of text that a conversation is made of.

use ktd_masking::{Payload, Prompt};
use std::fmt::Debug;

/// A kind of text that a conversation carries: that of its prompts, and that of the answers to tool calls.
///
/// Conversations, plans and sessions have it as a type parameter that defaults to [`Masked`]. A conversation with text
/// from outside a mask is of another type, and its kind is defined in a crate that no crate of an episode knows.
pub trait Words: Clone + Debug + Send + Sync + 'static {
    /// A message of the harness.
    type Prompt: From<Self::Payload> + Clone + Debug + Send + Sync;
    /// The answer to a tool call.
    type Payload: Clone + Debug + Send + Sync;

    /// The text of a message as the model sees it.
    fn prompt_text(prompt: &Self::Prompt) -> String;

    /// The text of an answer where a wire takes text: bare where it is text, else compact JSON.
    fn payload_text(payload: &Self::Payload) -> String;

    /// The text of an answer where a wire takes JSON.
    fn payload_json(payload: &Self::Payload) -> String;
}

/// Text that has passed a mask: template text that is compiled in, and [`Payload`]s. All that an episode can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Masked {}

impl Words for Masked {
    type Prompt = Prompt;
    type Payload = Payload;

    fn prompt_text(prompt: &Prompt) -> String {
        prompt.render()
    }

    fn payload_text(payload: &Payload) -> String {
        payload.to_inline()
    }

    fn payload_json(payload: &Payload) -> String {
        payload.to_json()
    }
}
