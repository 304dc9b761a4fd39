//! The line protocol: one JSON object a line, each way. `docs/own-agent.md` is its specification.

use super::turn::{AgentTurn, AgentTurnError};
use super::{Conversation, SentMessages, StepEnd, StepStatus};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The version of the line protocol, sent to every process in its first line.
const PROTOCOL_VERSION: u32 = 1;

/// The line of a question. How many steps the episode has is told to no one: a length may name its window.
#[derive(Serialize)]
struct Observe<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    step: usize,
    phase: &'static str,
    required: Option<&'static str>,
    ended: Option<StepEnd>,
    whole: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a [Value]>,
    messages: &'a [Value],
}

/// The line of an episode's end.
#[derive(Serialize)]
struct End {
    #[serde(rename = "type")]
    kind: &'static str,
    ended: Option<StepEnd>,
}

/// The lines to a process, by what it was sent before.
#[derive(Debug, Default)]
pub(super) struct LineWriter {
    is_greeted: bool,
    /// The standing instructions and the seed that were sent last.
    opening: (String, Option<u64>),
    told: SentMessages,
}

impl LineWriter {
    /// The line that tells what is new in `conversation`, with its line end.
    pub(super) fn observe(&mut self, conversation: &Conversation, now: StepStatus) -> String {
        let news = self.told.news(conversation);
        let is_first = !self.is_greeted;
        // Outside an episode each conversation has its own.
        let (system, seed) = (conversation.system.as_str(), conversation.seed);
        let has_other_system = is_first || self.opening.0 != system;
        let has_other_seed = is_first || self.opening.1 != seed;
        let line = line(&Observe {
            kind: "observe",
            protocol: is_first.then_some(PROTOCOL_VERSION),
            seed: seed.filter(|_| has_other_seed),
            step: now.step,
            phase: phase(conversation),
            required: conversation.must_submit.then_some(ktd_agents::SUBMIT_ACTION),
            // Inside a step nothing has ended since the last word.
            ended: now.ended.filter(|_| news.is_none()),
            whole: news.is_none(),
            system: has_other_system.then_some(system),
            tools: is_first.then_some(conversation.tools.as_slice()),
            messages: news.unwrap_or(&conversation.messages),
        });
        self.is_greeted = true;
        if has_other_system || has_other_seed {
            self.opening = (system.to_owned(), seed);
        }
        self.told = SentMessages::all(conversation);
        line
    }
}

/// What is asked for: without a tool to call, it is a text, and all that is asked for in text is code.
const fn phase(conversation: &Conversation) -> &'static str {
    if conversation.must_submit {
        "submission"
    } else if conversation.tools.is_empty() {
        "code"
    } else {
        "research"
    }
}

/// The line that tells that the episode is over.
pub(super) fn end(now: StepStatus) -> String {
    line(&End {
        kind: "end",
        ended: now.ended,
    })
}

fn line<T: Serialize>(told: &T) -> String {
    // Texts and counts cannot fail to serialise, and compact JSON has no line end inside.
    let mut line = serde_json::to_string(told).unwrap_or_default();
    line.push('\n');
    line
}

/// Reads a line of an agent.
///
/// # Errors
/// [`AgentTurnError`] for a line that is not of the protocol. A tool that does not exist and arguments that are wrong are
/// words all the same: they are the agent's mistakes, and the session answers them.
pub(super) fn read(line: &[u8]) -> Result<AgentTurn, AgentTurnError> {
    let mut members: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(line).map_err(|error| AgentTurnError::NotAnObject {
            column: error.column(),
        })?;
    let kind = members
        .remove("type")
        .and_then(|kind| serde_json::from_str::<String>(kind.get()).ok());
    let usage = members
        .remove("usage")
        .map(|usage| serde_json::from_str(usage.get()).map_err(|_| AgentTurnError::NotUsage))
        .transpose()?;
    let mut text = |member| members.remove(member).ok_or(AgentTurnError::NotText { member });
    let turn = match kind.as_deref() {
        Some("call") => {
            let name = text("name")?;
            AgentTurn::call(name, members.remove("arguments"))?
        }
        Some("say") => AgentTurn::say(text("text")?)?,
        Some(_) | None => return Err(AgentTurnError::UnknownType),
    };
    if members.is_empty() {
        Ok(turn.with_usage(usage))
    } else {
        Err(AgentTurnError::UnknownMember)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_bundle::event::StepOutcome;
    use serde_json::json;

    fn conversation(messages: &Value) -> Conversation {
        let body = json!({ "messages": messages, "tools": [{ "type": "function" }], "tool_choice": "auto" });
        Conversation::read(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_process_is_told_rules_once_and_then_only_news() {
        let (system, open) = (
            json!({ "role": "system", "content": "rules" }),
            json!({ "role": "user", "content": "one\ntwo" }),
        );
        let answer = json!({ "role": "tool", "content": "{}", "tool_call_id": "call_1" });
        let now = StepStatus {
            step: 2,
            ended: Some(StepEnd {
                step: 1,
                outcome: StepOutcome::Hold,
            }),
        };
        let mut heard = LineWriter::default();
        let first = heard.observe(&conversation(&json!([system, open])), now);
        assert!(first.ends_with('\n') && first.lines().count() == 1);
        assert_eq!(
            serde_json::from_str::<Value>(&first).unwrap(),
            json!({
                "type": "observe", "protocol": 1, "step": 2, "phase": "research", "required": null,
                "ended": { "step": 1, "outcome": "hold" }, "whole": true, "system": "rules",
                "tools": [{ "type": "function" }], "messages": [open],
            })
        );
        let second = heard.observe(&conversation(&json!([system, open, answer])), now);
        assert_eq!(
            serde_json::from_str::<Value>(&second).unwrap(),
            json!({
                "type": "observe", "step": 2, "phase": "research", "required": null, "ended": null,
                "whole": false, "messages": [answer],
            })
        );
    }

    #[test]
    fn a_conversation_in_text_asks_for_code_and_each_tells_its_own_rules() {
        let text = |system: &str, user: &str| {
            let messages =
                json!([{ "role": "system", "content": system }, { "role": "user", "content": user }]);
            let body = json!({ "messages": messages, "seed": 7 });
            Conversation::read(body.to_string().as_bytes()).unwrap()
        };
        let mut writer = LineWriter::default();
        let mut line = |conversation: &Conversation, step: usize| -> Value {
            let line = writer.observe(conversation, StepStatus { step, ended: None });
            serde_json::from_str(&line).unwrap()
        };
        let first = line(&text("rules of a", "a"), 1);
        assert_eq!(
            first,
            json!({
                "type": "observe", "protocol": 1, "seed": 7, "step": 1, "phase": "code", "required": null,
                "ended": null, "whole": true, "system": "rules of a", "tools": [],
                "messages": [{ "role": "user", "content": "a" }],
            })
        );
        let second = line(&text("rules of b", "b"), 2);
        assert_eq!(
            (&second["system"], &second["whole"]),
            (&json!("rules of b"), &json!(true))
        );
        assert!(second.get("seed").is_none() && second.get("tools").is_none());
        let again = line(&text("rules of b", "b again"), 3);
        assert!(again.get("system").is_none());
    }

    #[test]
    fn lines_off_the_protocol_are_named_without_their_text() {
        for (line, expected) in [
            ("hello", "no JSON object"),
            ("[]", "no JSON object"),
            ("{\"type\":\"call\"", "no JSON object"),
            ("{}", "`type`"),
            (r#"{"type":"shout","text":"x"}"#, "`type`"),
            (r#"{"type":"call","arguments":{}}"#, "`name` is no text"),
            (r#"{"type":"say"}"#, "`text` is no text"),
            (r#"{"type":"say","text":" "}"#, "blank"),
            (r#"{"type":"call","name":"a","args":{}}"#, "does not take"),
            (
                r#"{"type":"say","text":"a","usage":{"prompt_tokens":-1}}"#,
                "`usage`",
            ),
        ] {
            let error = read(line.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
        assert!(read(b"\xff\n").is_err());
    }

    #[test]
    fn wrong_arguments_are_words() {
        let deep = format!(
            r#"{{"type":"call","name":"submit_action","arguments":{}{}}}"#,
            "[".repeat(1_000),
            "]".repeat(1_000)
        );
        for line in [
            r#"{"type":"call","name":"no such tool","arguments":null}"#,
            r#"{"type":"call","name":"a","arguments":"{'x': NaN"}"#,
            r#"{"type":"call","name":"a","arguments":{"x":"\ud800"},"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            &deep,
        ] {
            assert!(read(line.as_bytes()).is_ok(), "{line}");
        }
    }
}
