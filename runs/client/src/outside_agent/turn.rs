//! A turn of an outside agent, and the Chat Completions reply it becomes.

use super::Conversation;
use ktd_agents::SUBMIT_ACTION;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// Longest turn of an agent, in bytes: escaped once more, it still fits the largest reply that is read.
pub(super) const TURN_BYTES_MAX: usize = 2 * 1024 * 1024;

/// One turn of an outside agent. Texts are kept as the JSON they came as, so that nothing is repaired on the way.
#[derive(Debug, Clone)]
pub struct AgentTurn {
    content: TurnContent,
    usage: Option<TokenCounts>,
}

#[derive(Debug, Clone)]
enum TurnContent {
    Call {
        /// A JSON text.
        name: Box<RawValue>,
        /// A JSON text that holds the raw arguments.
        arguments: Box<RawValue>,
    },
    /// A JSON text.
    Text(Box<RawValue>),
}

/// What a turn cost, as far as the agent tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenCounts {
    /// Tokens of the request, those from a cache included.
    pub prompt_tokens: u64,
    /// Tokens generated, reasoning included.
    pub completion_tokens: u64,
}

/// A text that is no turn of an agent. It holds nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AgentTurnError {
    /// It is no JSON object.
    #[error("it is no JSON object on one line (column {column})")]
    NotAnObject {
        /// 1-based column where reading stopped, in bytes.
        column: usize,
    },
    /// Its `type` is missing or unknown.
    #[error("its `type` is neither \"call\" nor \"say\"")]
    UnknownType,
    /// A member that must be a text is missing or something else.
    #[error("its `{member}` is no text")]
    NotText {
        /// Which.
        member: &'static str,
    },
    /// Its text is empty.
    #[error("its `text` is blank")]
    Blank,
    /// The token counts are none.
    #[error("its `usage` is not {{\"prompt_tokens\": .., \"completion_tokens\": ..}} with whole numbers")]
    NotUsage,
    /// It has a member that the protocol does not know.
    #[error("it has a member that this `type` does not take")]
    UnknownMember,
}

impl AgentTurn {
    /// A tool call. Arguments that are a JSON text are that text; anything else is its own JSON text, so that even
    /// arguments that are no JSON can be told. Without any they are empty.
    ///
    /// # Errors
    /// [`AgentTurnError::NotText`] when `name` is no JSON text.
    pub fn call(name: Box<RawValue>, arguments: Option<Box<RawValue>>) -> Result<Self, AgentTurnError> {
        if !is_text(&name) {
            return Err(AgentTurnError::NotText { member: "name" });
        }
        let arguments = match arguments {
            Some(arguments) if is_text(&arguments) => arguments,
            Some(arguments) => raw(&arguments.get()),
            None => raw(&""),
        };
        Ok(Self::of(TurnContent::Call { name, arguments }))
    }

    /// Prose.
    ///
    /// # Errors
    /// [`AgentTurnError::NotText`] or [`AgentTurnError::Blank`]: silence is told by saying nothing.
    pub fn say(text: Box<RawValue>) -> Result<Self, AgentTurnError> {
        if !is_text(&text) {
            return Err(AgentTurnError::NotText { member: "text" });
        }
        if read(&text).is_some_and(|text| text.trim().is_empty()) {
            return Err(AgentTurnError::Blank);
        }
        Ok(Self::of(TurnContent::Text(text)))
    }

    /// The same with what it cost.
    #[must_use]
    pub const fn with_usage(mut self, usage: Option<TokenCounts>) -> Self {
        self.usage = usage;
        self
    }

    const fn of(content: TurnContent) -> Self {
        Self { content, usage: None }
    }

    /// Whether it submits.
    #[must_use]
    pub fn is_submission(&self) -> bool {
        match &self.content {
            TurnContent::Call { name, .. } => read(name).as_deref() == Some(SUBMIT_ACTION),
            TurnContent::Text(_) => false,
        }
    }

    /// The Chat Completions reply to the request of `conversation`. A call's id is its place in the conversation, so
    /// that the same words give the same bytes.
    #[must_use]
    pub fn reply(&self, conversation: &Conversation) -> Vec<u8> {
        let (content, calls, finish_reason) = match &self.content {
            TurnContent::Text(text) => (Some(&**text), None, "stop"),
            TurnContent::Call { name, arguments } => {
                let call = Call {
                    id: format!("call_{}", conversation.messages.len()),
                    kind: "function",
                    function: Function { name, arguments },
                };
                (None, Some([call]), "tool_calls")
            }
        };
        let reply = Reply {
            object: "chat.completion",
            choices: [Choice {
                index: 0,
                message: Message {
                    role: "assistant",
                    content,
                    tool_calls: calls,
                },
                finish_reason,
            }],
            usage: self.usage,
        };
        // Texts, counts and JSON that was parsed before cannot fail to serialise.
        serde_json::to_vec(&reply).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Reply<'a> {
    object: &'a str,
    choices: [Choice<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<TokenCounts>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    finish_reason: &'a str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a str,
    content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[Call<'a>; 1]>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'a str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a RawValue,
    arguments: &'a RawValue,
}

/// A Rust value as the JSON it is.
pub(super) fn raw<T: Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    // Texts and JSON that was parsed before cannot fail to serialise.
    to_raw_value(value).unwrap_or_default()
}

fn is_text(json: &RawValue) -> bool {
    json.get().starts_with('"')
}

/// A JSON text as text; `None` for one with a lone surrogate, which is neither blank nor a known name.
fn read(json: &RawValue) -> Option<String> {
    serde_json::from_str(json.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_agents::{Dialect, ModelTurn, StopReason, Wire};

    fn opening() -> Conversation {
        Conversation::read(br#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}"#)
            .unwrap()
    }

    fn decode(turn: &AgentTurn) -> ModelTurn {
        let reply = turn.reply(&opening());
        Wire::ChatCompletions
            .decode(200, &reply, &Dialect::plain())
            .unwrap()
    }

    fn json(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn a_call_keeps_the_bytes_of_its_arguments() {
        for (given, expected) in [
            (Some(r#"{"top_k": 1.50}"#), r#"{"top_k": 1.50}"#),
            (Some(r#""{'not': json""#), "{'not': json"),
            (Some("[1]"), "[1]"),
            (None, "{}"),
        ] {
            let turn = AgentTurn::call(json(r#""screen""#), given.map(json)).unwrap();
            let decoded = decode(&turn);
            let call = &decoded.tool_calls()[0];
            assert_eq!(
                (call.name.as_str(), call.arguments.as_str()),
                ("screen", expected)
            );
            assert_eq!(call.id.as_str(), "call_1");
            assert_eq!(decoded.stop(), StopReason::ToolCalls);
            assert!(!turn.is_submission());
        }
    }

    #[test]
    fn prose_and_token_counts_are_in_the_reply() {
        let usage = TokenCounts {
            prompt_tokens: 10,
            completion_tokens: 3,
        };
        let turn = AgentTurn::say(json(r#""Enough.""#))
            .unwrap()
            .with_usage(Some(usage));
        let decoded = decode(&turn);
        assert_eq!(decoded.text(), Some("Enough."));
        assert_eq!(decoded.usage().output(), 3);
        assert!(decoded.normalised().is_empty());
    }

    #[test]
    fn the_longest_turn_still_fits_a_reply() {
        let quotes = format!("\"{}\"", "\\\"".repeat(TURN_BYTES_MAX / 2));
        let turn = AgentTurn::call(json(r#""submit_action""#), Some(json(&format!("[{quotes}]")))).unwrap();
        assert!(turn.is_submission());
        decode(&turn);
    }

    #[test]
    fn what_is_no_turn_is_refused() {
        assert_eq!(
            AgentTurn::call(json("1"), None).unwrap_err(),
            AgentTurnError::NotText { member: "name" }
        );
        assert_eq!(
            AgentTurn::say(json("null")).unwrap_err(),
            AgentTurnError::NotText { member: "text" }
        );
        assert_eq!(
            AgentTurn::say(json(r#"" \n""#)).unwrap_err(),
            AgentTurnError::Blank
        );
    }
}
