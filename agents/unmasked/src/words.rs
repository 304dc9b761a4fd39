//! The kind of text, and the types of a conversation in it.

use crate::{OpenPayload, OpenPrompt};
use ktd_agents::{ChatRequest, Message, Session, SessionTexts, StepPlan, Words};

/// Text that may come from outside any mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {}

impl Words for Open {
    type Prompt = OpenPrompt;
    type Payload = OpenPayload;

    fn prompt_text(prompt: &OpenPrompt) -> String {
        prompt.as_str().to_owned()
    }

    fn payload_text(payload: &OpenPayload) -> String {
        payload.to_inline()
    }

    fn payload_json(payload: &OpenPayload) -> String {
        payload.to_json()
    }
}

/// One request to a chat model, with text from outside any mask in it.
pub type OpenRequest = ChatRequest<Open>;

/// One message of a conversation with text from outside any mask.
pub type OpenMessage = Message<Open>;

/// The plan of a conversation with text from outside any mask.
pub type OpenPlan = StepPlan<Open>;

/// The session's own texts in a conversation with text from outside any mask.
pub type OpenTexts = SessionTexts<Open>;

/// A conversation with text from outside any mask, in the phase `P`.
pub type OpenSession<P> = Session<P, Open>;
