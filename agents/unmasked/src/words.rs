//! The kind of text, and the request of a conversation in it.

use crate::OpenPrompt;
use ktd_agents::{ChatRequest, Masked, Words};
use ktd_masking::Payload;

/// Text that may come from outside any mask. The answers of tools pass a mask as in an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {}

impl Words for Open {
    type Prompt = OpenPrompt;
    type Payload = Payload;

    fn prompt_text(prompt: &OpenPrompt) -> String {
        prompt.as_str().to_owned()
    }

    fn payload_text(payload: &Payload) -> String {
        Masked::payload_text(payload)
    }

    fn payload_json(payload: &Payload) -> String {
        Masked::payload_json(payload)
    }
}

/// One request to a chat model, with text from outside any mask in it.
pub type OpenRequest = ChatRequest<Open>;
