//! Chat Completions responses of the built-in agents.

use crate::order::{Order, without_refused};
use crate::seen::Seen;
use ktd_tools::{SUBMIT_ACTION, Tool};
use serde::Serialize;

/// The tool that shows names.
const SCREEN: &str = Tool::ScreenCandidates.name();

#[derive(Serialize)]
struct Arguments<'a> {
    orders: &'a [Order],
    overall_reason: &'a str,
}

#[derive(Serialize)]
struct Response<'a> {
    id: String,
    object: &'a str,
    choices: [Choice<'a>; 1],
    usage: Usage,
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
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
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
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Usage {
    #[serde(rename = "prompt_tokens")]
    prompt: usize,
    #[serde(rename = "completion_tokens")]
    completion: usize,
    #[serde(rename = "total_tokens")]
    total: usize,
}

/// A submission of `orders`, less what was refused before in this step.
pub(crate) fn submit(seen: &Seen, orders: Vec<Order>, overall_reason: &str) -> Vec<u8> {
    let orders = without_refused(seen, orders);
    let arguments = Arguments {
        orders: &orders,
        overall_reason,
    };
    call(seen, SUBMIT_ACTION, &to_json(&arguments))
}

/// A decision to hold.
pub(crate) fn hold(seen: &Seen, overall_reason: &str) -> Vec<u8> {
    submit(seen, Vec::new(), overall_reason)
}

/// In research: asks once for `top_k` names by twelve-month momentum, then has seen enough.
pub(crate) fn screen_once(seen: &Seen, direction: &str, top_k: u32) -> Vec<u8> {
    let arguments = format!(
        r#"{{"factors":[{{"factor":"MOM_12_1","direction":"{direction}","weight":1.0}}],"top_k":{top_k}}}"#
    );
    ask_once(seen, &arguments)
}

/// In research: screens once, then has seen enough.
pub(crate) fn ask_once(seen: &Seen, screen: &str) -> Vec<u8> {
    if !seen.has_tool(SCREEN) || !seen.answers_of(SCREEN).is_empty() {
        return say(seen, "I have seen enough to decide.");
    }
    call(seen, SCREEN, screen)
}

/// One tool call, its arguments as they stand; a submission is text where there is nothing to call.
pub(crate) fn call(seen: &Seen, name: &str, arguments: &str) -> Vec<u8> {
    if name == SUBMIT_ACTION && seen.must_say() {
        return say(seen, arguments);
    }
    respond(seen, None, &[(name, arguments)])
}

/// Several tool calls in one turn.
pub(crate) fn calls(seen: &Seen, calls: &[(&str, &str)]) -> Vec<u8> {
    respond(seen, None, calls)
}

/// Prose.
pub(crate) fn say(seen: &Seen, text: &str) -> Vec<u8> {
    respond(seen, Some(text), &[])
}

fn respond(seen: &Seen, text: Option<&str>, calls: &[(&str, &str)]) -> Vec<u8> {
    let age = seen.age();
    let tool_calls: Vec<Call<'_>> = calls
        .iter()
        .enumerate()
        .map(|(position, (name, arguments))| Call {
            id: format!("call_{age}_{position}"),
            kind: "function",
            function: Function { name, arguments },
        })
        .collect();
    let said = text.map_or(0, str::len) + calls.iter().map(|(_, arguments)| arguments.len()).sum::<usize>();
    let (prompt, completion) = (tokens(seen.text_bytes()), tokens(said));
    let response = Response {
        id: format!("builtin-{age}"),
        object: "chat.completion",
        choices: [Choice {
            index: 0,
            finish_reason: if tool_calls.is_empty() {
                "stop"
            } else {
                "tool_calls"
            },
            message: Message {
                role: "assistant",
                content: text,
                tool_calls,
            },
        }],
        usage: Usage {
            prompt,
            completion,
            total: prompt + completion,
        },
    };
    to_json(&response).into_bytes()
}

/// The usual rule of thumb: four bytes a token, and one at least.
const fn tokens(bytes: usize) -> usize {
    bytes / 4 + 1
}

fn to_json<T: Serialize>(value: &T) -> String {
    // Texts and finite numbers cannot fail to serialise.
    serde_json::to_string(value).unwrap_or_default()
}
