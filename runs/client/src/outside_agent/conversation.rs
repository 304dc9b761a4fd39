//! A request as an outside agent gets it: the messages, the tools, and whether it must submit.

use ktd_agents::SUBMIT_ACTION;
use serde::Deserialize;
use serde_json::Value;

/// What one request says. Everything in it has passed the mask and the guard.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The messages in Chat Completions form, oldest first, the harness's standing instructions left out.
    pub messages: Vec<Value>,
    /// The standing instructions.
    pub system: String,
    /// The tools in Chat Completions form, in the harness's order.
    pub tools: Vec<Value>,
    /// Whether only `submit_action` is accepted now.
    pub must_submit: bool,
    /// The published seed, where the experiment sends it.
    pub seed: Option<u64>,
}

#[derive(Deserialize)]
struct Body {
    messages: Vec<Value>,
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default)]
    tool_choice: Value,
    seed: Option<u64>,
}

impl Conversation {
    /// Reads the bytes of a Chat Completions request.
    ///
    /// # Errors
    /// What `serde_json` says of bytes that are none.
    pub fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        let body: Body = serde_json::from_slice(body)?;
        let is_system = |message: &&Value| role(message) == "system";
        let system: Vec<&str> = body.messages.iter().take_while(is_system).map(text).collect();
        let forced = body.tool_choice.pointer("/function/name").and_then(Value::as_str);
        Ok(Self {
            system: system.join("\n"),
            must_submit: forced == Some(SUBMIT_ACTION),
            messages: body.messages.iter().skip(system.len()).cloned().collect(),
            tools: body.tools,
            seed: body.seed,
        })
    }
}

/// Who speaks in a message: `user`, `assistant` or `tool`.
pub(super) fn role(message: &Value) -> &str {
    member(message, "role")
}

/// What a message says; empty where it only calls tools.
pub(super) fn text(message: &Value) -> &str {
    member(message, "content")
}

fn member<'a>(message: &'a Value, key: &str) -> &'a str {
    message.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Messages that an agent has been sent in its step.
#[derive(Debug, Clone, Default)]
pub struct SentMessages(Vec<Value>);

impl SentMessages {
    /// Everything `conversation` says.
    #[must_use]
    pub fn all(conversation: &Conversation) -> Self {
        Self(conversation.messages.clone())
    }

    /// The messages of `conversation` that follow what was sent, or `None` when it does not continue it: another
    /// step has begun, or nothing was sent.
    #[must_use]
    pub fn news<'a>(&self, conversation: &'a Conversation) -> Option<&'a [Value]> {
        conversation
            .messages
            .strip_prefix(self.0.as_slice())
            .filter(|_| !self.0.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn conversation(messages: &Value, choice: &Value) -> Conversation {
        let body = json!({ "messages": messages, "tool_choice": choice, "model": "m", "seed": 7 });
        Conversation::read(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_request_is_read() {
        let messages = json!([{ "role": "system", "content": "rules" }, { "role": "user", "content": "go" }]);
        let research = conversation(&messages, &json!("auto"));
        assert_eq!(research.system, "rules");
        assert_eq!(research.messages, [json!({ "role": "user", "content": "go" })]);
        assert_eq!((research.must_submit, research.seed), (false, Some(7)));
        let forced = json!({ "type": "function", "function": { "name": "submit_action" } });
        assert!(conversation(&messages, &forced).must_submit);
        assert!(Conversation::read(b"{}").is_err());
    }

    #[test]
    fn only_what_follows_is_news() {
        let (one, two) = (
            json!({ "role": "user", "content": "1" }),
            json!({ "role": "user", "content": "2" }),
        );
        let first = conversation(&json!([one]), &Value::Null);
        let both = conversation(&json!([one, two]), &Value::Null);
        let other = conversation(&json!([two]), &Value::Null);
        let told = SentMessages::all(&first);
        assert_eq!(told.news(&both), Some([two].as_slice()));
        assert_eq!(told.news(&first), Some([].as_slice()));
        assert_eq!(told.news(&other), None);
        assert_eq!(SentMessages::default().news(&first), None);
    }
}
