//! A conversation in text alone: no tools, no required form, nothing forced.

use crate::chat::{ChatRequest, Message, ModelTurn, ReplyFormat, Sampling, StopReason, Thinking, ToolChoice};
use crate::model_fault::ModelFault;
use crate::words::{Masked, Words};
use std::sync::Arc;

/// What a conversation in text is opened with.
#[derive(Debug, Clone)]
pub struct TextPlan<W: Words = Masked> {
    /// The provider's name of the model.
    pub model: String,
    /// How replies are sampled.
    pub sampling: Sampling,
    /// Whether the model thinks before it answers.
    pub thinking: Thinking,
    /// Groups requests that share a prefix, for providers that take such a hint.
    pub cache_key: Option<String>,
    /// The standing instructions.
    pub system: W::Prompt,
    /// The message that opens the conversation.
    pub user: W::Prompt,
}

/// Conversation in text alone: instructions, a message, the model's turn, a further message, and so on.
///
/// It sends nothing: the caller sends [`Self::request`], feeds the turn, and may go on with [`Self::reply`].
#[derive(Debug, Clone)]
pub struct TextConversation<W: Words = Masked> {
    request: ChatRequest<W>,
}

impl<W: Words> TextConversation<W> {
    /// A conversation before its first request.
    #[must_use]
    pub fn open(plan: TextPlan<W>) -> Self {
        let request = ChatRequest {
            model: plan.model,
            messages: vec![Message::System(plan.system), Message::User(plan.user)],
            tools: Arc::from([]),
            tool_choice: ToolChoice::None,
            reply_format: ReplyFormat::Free,
            thinking: plan.thinking,
            sampling: plan.sampling,
            cache_key: plan.cache_key,
        };
        Self { request }
    }

    /// The request to send now.
    #[must_use]
    pub const fn request(&self) -> &ChatRequest<W> {
        &self.request
    }

    /// Takes the model's turn and gives its text, which is foreign.
    ///
    /// A turn without anything in it is not sent back, for vendors reject empty messages.
    ///
    /// # Errors
    /// [`ModelFault::Refusal`], [`ModelFault::Truncated`], or [`ModelFault::NoAnswer`] for a turn without text.
    pub fn feed_turn(&mut self, turn: ModelTurn) -> Result<String, ModelFault> {
        let text = text_of(&turn);
        if !turn.is_blank() {
            self.request.messages.push(Message::Assistant(Arc::new(turn)));
        }
        text
    }

    /// Says something to the model's last turn.
    pub fn reply(&mut self, prompt: W::Prompt) {
        self.request.messages.push(Message::User(prompt));
    }
}

/// The text of a turn that was finished. A turn that calls tools, which it was not given, has only its text.
fn text_of(turn: &ModelTurn) -> Result<String, ModelFault> {
    match turn.stop() {
        StopReason::Length => return Err(ModelFault::Truncated),
        StopReason::ContentFilter | StopReason::Refusal => return Err(ModelFault::Refusal),
        StopReason::Stop | StopReason::ToolCalls | StopReason::MalformedCall | StopReason::Other => {}
    }
    match turn.text() {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        Some(_) | None => Err(ModelFault::NoAnswer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, Wire};
    use ktd_masking::Prompt;

    const WIRES: [Wire; 4] = [
        Wire::ChatCompletions,
        Wire::Responses,
        Wire::Messages,
        Wire::GenerateContent,
    ];

    fn turn(content: &str, finish: &str) -> ModelTurn {
        let body = serde_json::json!({
            "choices": [{ "finish_reason": finish, "message": { "role": "assistant", "content": content } }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1 },
        });
        Wire::ChatCompletions
            .decode(200, body.to_string().as_bytes(), &Dialect::plain())
            .unwrap()
    }

    fn conversation() -> TextConversation {
        TextConversation::open(TextPlan {
            model: "m".to_owned(),
            sampling: Sampling::default(),
            thinking: Thinking::VendorDefault,
            cache_key: None,
            system: Prompt::new().text("Write a function."),
            user: Prompt::new().text("Momentum of 20 days."),
        })
    }

    #[test]
    fn no_wire_names_a_tool_a_choice_or_a_form() {
        for wire in WIRES {
            let request = wire.encode(conversation().request(), &Dialect::plain());
            let body = String::from_utf8(request.body().to_vec()).unwrap();
            assert!(body.contains("Momentum of 20 days."), "{wire:?}: {body}");
            for word in ["tool", "response_format", "Schema", "function\""] {
                assert!(!body.contains(word), "{wire:?} says {word}: {body}");
            }
        }
    }

    #[test]
    fn turns_and_replies_follow_each_other() {
        let mut conversation = conversation();
        assert_eq!(
            conversation.feed_turn(turn("code", "stop")),
            Ok("code".to_owned())
        );
        conversation.reply(Prompt::new().text("It fails."));
        let roles: Vec<u8> = conversation
            .request()
            .messages
            .iter()
            .map(|message| match message {
                Message::System(_) => b's',
                Message::User(_) => b'u',
                Message::Assistant(_) => b'a',
                Message::Tool { .. } => b't',
            })
            .collect();
        assert_eq!(roles, b"suau");
    }

    #[test]
    fn what_is_no_answer_has_a_reason_and_an_empty_turn_is_not_sent_back() {
        for (content, finish, fault) in [
            ("def f", "length", ModelFault::Truncated),
            ("no", "content_filter", ModelFault::Refusal),
            (" \n", "stop", ModelFault::NoAnswer),
        ] {
            let mut conversation = conversation();
            assert_eq!(
                conversation.feed_turn(turn(content, finish)),
                Err(fault),
                "{finish}"
            );
            let kept = conversation.request().messages.len();
            assert_eq!(kept, if content.trim().is_empty() { 2 } else { 3 }, "{finish}");
        }
    }
}
