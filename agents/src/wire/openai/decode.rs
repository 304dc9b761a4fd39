//! From Chat Completions bytes to a model's turn.

use crate::chat::{CallId, ModelTurn, Normalised, StopReason, ToolCall, Usage};
use crate::wire::fault::{FaultKind, ReplyFault};
use crate::wire::raw_object::{RawObject, read_text};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeSet;

/// Largest reply that is read, in bytes: far above any output budget.
pub const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Deepest nesting of a reply that is read, in levels.
pub const REPLY_DEPTH_MAX: usize = 64;

/// Reads a reply.
///
/// Compatible servers bend the format: unknown finish reasons, null content or usage, missing objects and ids,
/// arguments as JSON. What can be read without guessing is read and listed in [`ModelTurn::normalised`]. Whether
/// the model called a tool is decided by the calls, never by the finish reason.
///
/// # Errors
/// [`ReplyFault`] when the reply holds no turn of the model. A model's own mistakes are never a fault: bad
/// arguments and unknown tools are part of the turn.
pub fn decode(status: u16, body: &[u8]) -> Result<ModelTurn, ReplyFault> {
    if REPLY_BYTES_MAX < body.len() {
        return Err(ReplyFault::new(FaultKind::BodyTooLarge, status, ""));
    }
    if REPLY_DEPTH_MAX < depth(body) {
        return Err(ReplyFault::new(FaultKind::BodyTooDeep, status, ""));
    }
    if !(200..=299).contains(&status) {
        return Err(ReplyFault::of_status(status, body));
    }
    let envelope = read_envelope(status, body)?;
    if let Some(fault) = ReplyFault::of_inner_error(status, &envelope) {
        return Err(fault);
    }
    let empty = || ReplyFault::new(FaultKind::EmptyEnvelope, status, "no message in the reply");
    let choices = envelope.list("choices").ok_or_else(empty)?;
    let choice = choices
        .first()
        .and_then(|raw| RawObject::read(raw.get()))
        .ok_or_else(empty)?;
    if let Some(fault) = ReplyFault::of_inner_error(status, &choice) {
        return Err(fault);
    }
    let message = choice.object("message").ok_or_else(empty)?;
    let calls = match message.get("tool_calls") {
        Some(_) => message.list("tool_calls").ok_or_else(empty)?,
        None => Vec::new(),
    };
    let turn = read_turn(&envelope, &choice, message, &calls, digest(body));
    if is_zero_output(&turn) {
        return Err(ReplyFault::zero_output(status, turn));
    }
    Ok(turn)
}

fn read_envelope(status: u16, body: &[u8]) -> Result<RawObject, ReplyFault> {
    let text = std::str::from_utf8(body)
        .map_err(|_| ReplyFault::new(FaultKind::NotJson, status, "the body is not UTF-8"))?
        .trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| {
        let is_object = text.trim_start().starts_with('{');
        let kind = if is_object && error.is_eof() {
            FaultKind::BodyTruncated
        } else {
            FaultKind::NotJson
        };
        ReplyFault::new(kind, status, &error.to_string())
    })
}

fn read_turn(
    envelope: &RawObject,
    choice: &RawObject,
    mut message: RawObject,
    calls: &[Box<RawValue>],
    digest: u64,
) -> ModelTurn {
    let mut normalised = BTreeSet::new();
    let usage = read_usage(envelope, &mut normalised);
    let tool_calls = read_calls(&mut message, calls, digest, &mut normalised);
    if message.get("role").is_none() {
        put(&mut message, "role", &"assistant");
    }
    let refused = message.text("refusal").is_some_and(|text| !text.is_empty());
    ModelTurn {
        text: read_content(&message),
        reasoning: message
            .text("reasoning_content")
            .or_else(|| message.text("reasoning")),
        tool_calls,
        stop: read_stop(choice, refused),
        usage,
        normalised: normalised.into_iter().collect(),
        raw: raw(&message),
    }
}

/// The calls, with ids made unique. Where an id had to be minted, `message` gets it too, so that it can go back.
fn read_calls(
    message: &mut RawObject,
    raw_calls: &[Box<RawValue>],
    digest: u64,
    normalised: &mut BTreeSet<Normalised>,
) -> Vec<ToolCall> {
    let mut seen = BTreeSet::new();
    let mut calls = Vec::with_capacity(raw_calls.len());
    let mut echoes = Vec::with_capacity(raw_calls.len());
    let mut is_patched = false;
    for (position, raw_call) in raw_calls.iter().enumerate() {
        let mut echo = RawObject::read(raw_call.get()).unwrap_or_default();
        let function = echo.object("function").unwrap_or_default();
        let given = echo.text("id").filter(|id| !id.trim().is_empty());
        let id = match given {
            Some(id) if seen.insert(id.clone()) => id,
            duplicate => {
                is_patched = true;
                normalised.insert(duplicate.map_or(Normalised::IdMinted, |_| Normalised::IdReminted));
                let id = mint(&mut seen, digest, position);
                put(&mut echo, "id", &id);
                id
            }
        };
        calls.push(ToolCall {
            id: CallId(id),
            name: function.text("name").unwrap_or_default(),
            arguments: read_arguments(&function, normalised),
        });
        echoes.push(echo);
    }
    if is_patched {
        put(message, "tool_calls", &echoes);
    }
    calls
}

/// An id from the reply's content, so that reading the same reply again gives the same id.
fn mint(seen: &mut BTreeSet<String>, digest: u64, position: usize) -> String {
    let mut salt = position;
    loop {
        let id = format!("call_{digest:016x}_{salt}");
        if seen.insert(id.clone()) {
            return id;
        }
        salt += 1;
    }
}

fn read_arguments(function: &RawObject, normalised: &mut BTreeSet<Normalised>) -> String {
    let Some(json) = function.get("arguments") else {
        normalised.insert(Normalised::ArgumentsEmpty);
        return "{}".to_owned();
    };
    let Some(text) = read_text(json) else {
        normalised.insert(Normalised::ArgumentsNotText);
        return json.to_owned();
    };
    if text.trim().is_empty() {
        normalised.insert(Normalised::ArgumentsEmpty);
        return "{}".to_owned();
    }
    text
}

/// Content is text, null, or (on some servers) a list of parts of which the texts count.
fn read_content(message: &RawObject) -> Option<String> {
    let text = message.text("content").or_else(|| {
        let parts = message.list("content")?;
        let texts = parts
            .iter()
            .filter_map(|part| RawObject::read(part.get())?.text("text"));
        Some(texts.collect())
    });
    text.filter(|text| !text.is_empty())
}

fn read_stop(choice: &RawObject, refused: bool) -> StopReason {
    if refused {
        return StopReason::Refusal;
    }
    match choice.text("finish_reason").as_deref() {
        Some("stop") => StopReason::Stop,
        Some("tool_calls" | "function_call") => StopReason::ToolCalls,
        Some("length") => StopReason::Length,
        Some("content_filter") => StopReason::ContentFilter,
        Some("refusal") => StopReason::Refusal,
        Some(_) | None => StopReason::Other,
    }
}

fn read_usage(envelope: &RawObject, normalised: &mut BTreeSet<Normalised>) -> Usage {
    let usage = envelope.object("usage").unwrap_or_default();
    let prompt_details = usage.object("prompt_tokens_details").unwrap_or_default();
    let completion_details = usage.object("completion_tokens_details").unwrap_or_default();
    let counts = Usage {
        prompt_tokens: usage.count("prompt_tokens"),
        completion_tokens: usage.count("completion_tokens"),
        cached_tokens: prompt_details
            .count("cached_tokens")
            .or_else(|| usage.count("prompt_cache_hit_tokens"))
            .or_else(|| usage.count("cached_tokens")),
        reasoning_tokens: completion_details.count("reasoning_tokens"),
    };
    if counts.prompt_tokens.is_none() || counts.completion_tokens.is_none() {
        normalised.insert(Normalised::UsageUnknown);
    }
    counts
}

/// Nothing said, nothing thought, nothing generated: the provider's hiccup rather than the model's silence.
fn is_zero_output(turn: &ModelTurn) -> bool {
    let has_generated = turn.usage.completion_tokens.is_some_and(|tokens| 0 < tokens);
    let has_thought = turn.reasoning.as_deref().is_some_and(|text| !text.is_empty());
    let was_cut = matches!(
        turn.stop,
        StopReason::Length | StopReason::ContentFilter | StopReason::Refusal
    );
    turn.is_blank() && !has_generated && !has_thought && !was_cut
}

fn put<T: Serialize>(object: &mut RawObject, key: &str, value: &T) {
    object.set(key, raw(value));
}

fn raw<T: Serialize>(value: &T) -> Box<RawValue> {
    // Texts and members that were JSON before cannot fail to serialise.
    to_raw_value(value).unwrap_or_default()
}

/// The deepest nesting of brackets outside texts.
fn depth(body: &[u8]) -> usize {
    let (mut level, mut deepest) = (0_usize, 0_usize);
    let (mut in_text, mut escaped) = (false, false);
    for byte in body {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{' | b'[') => {
                level += 1;
                deepest = deepest.max(level);
            }
            (false, b'}' | b']') => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// FNV-1a: a name for the reply's bytes, not a protection against anyone.
fn digest(body: &[u8]) -> u64 {
    body.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::FaultClass;

    fn reply(message: &str, finish: &str) -> Vec<u8> {
        format!(r#"{{"choices":[{{"message":{message},"finish_reason":{finish}}}],"usage":{{"prompt_tokens":7,"completion_tokens":3}}}}"#)
            .into_bytes()
    }

    fn call(fields: &str) -> String {
        format!(r#"{{"role":"assistant","content":null,"tool_calls":[{fields}]}}"#)
    }

    #[test]
    fn a_plain_reply_is_read() {
        let turn = decode(200, br#"{"id":"x","object":"chat.completion","choices":[{"index":0,"finish_reason":"tool_calls",
          "message":{"role":"assistant","content":"Buy.","refusal":null,"reasoning_content":"because",
          "tool_calls":[{"id":"c1","type":"function","function":{"name":"submit_action","arguments":"{\"orders\":[]}"}}]}}],
          "usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},
          "completion_tokens_details":{"reasoning_tokens":2}}}"#).unwrap();
        assert_eq!(turn.text(), Some("Buy."));
        assert_eq!(turn.reasoning(), Some("because"));
        assert_eq!(turn.stop(), StopReason::ToolCalls);
        assert_eq!(turn.tool_calls()[0].name, "submit_action");
        assert_eq!(turn.tool_calls()[0].arguments, r#"{"orders":[]}"#);
        assert_eq!(turn.usage().cached_tokens, Some(4));
        assert_eq!(turn.usage().reasoning_tokens, Some(2));
        assert!(turn.normalised().is_empty());
    }

    #[test]
    fn calls_are_calls_whatever_the_finish_reason() {
        for finish in [r#""stop""#, r#""eos""#, r#""""#, "null", "7"] {
            let message = call(r#"{"id":"a","function":{"name":"t","arguments":"{}"}}"#);
            let turn = decode(200, &reply(&message, finish)).unwrap();
            assert_eq!(turn.tool_calls().len(), 1, "finish_reason {finish}");
        }
    }

    #[test]
    fn missing_and_doubled_ids_are_minted_from_the_reply() {
        let message = call(
            r#"{"function":{"name":"t","arguments":"{}"}},{"id":"a","function":{"name":"t"}},{"id":"a","x":1,"function":{"name":"t","arguments":""}}"#,
        );
        let body = reply(&message, "null");
        let (turn, again) = (decode(200, &body).unwrap(), decode(200, &body).unwrap());
        let ids: Vec<&str> = turn.tool_calls().iter().map(|call| call.id.as_str()).collect();
        assert_eq!(turn.tool_calls(), again.tool_calls());
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(ids[1], "a");
        assert_eq!(
            turn.normalised(),
            [
                Normalised::ArgumentsEmpty,
                Normalised::IdMinted,
                Normalised::IdReminted
            ]
        );
        for id in ids {
            assert!(turn.raw().get().contains(id), "{id} goes back in the echoed turn");
        }
        assert!(turn.raw().get().contains(r#""x":1"#));
    }

    #[test]
    fn arguments_as_json_keep_their_text() {
        let message = call(r#"{"id":"a","function":{"name":"t","arguments":{"w":0.10, "n":[1]}}}"#);
        let turn = decode(200, &reply(&message, "null")).unwrap();
        assert_eq!(turn.tool_calls()[0].arguments, r#"{"w":0.10, "n":[1]}"#);
        assert_eq!(turn.normalised(), [Normalised::ArgumentsNotText]);
    }

    #[test]
    fn broken_arguments_and_names_are_the_models_own() {
        let message = call(r#"{"id":"a","function":{"name":"buy_stock","arguments":"{'orders': []}"}},7"#);
        let turn = decode(200, &reply(&message, "null")).unwrap();
        assert_eq!(turn.tool_calls()[0].name, "buy_stock");
        assert_eq!(turn.tool_calls()[0].arguments, "{'orders': []}");
        assert_eq!(turn.tool_calls()[1].name, "");
    }

    #[test]
    fn quirks_of_the_envelope_are_read() {
        let turn = decode(200, br#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}],"usage":null}"#)
            .unwrap();
        assert_eq!(turn.text(), Some("ab"));
        assert_eq!(turn.usage(), Usage::default());
        assert_eq!(turn.normalised(), [Normalised::UsageUnknown]);
        assert!(turn.raw().get().ends_with(r#","role":"assistant"}"#));
    }

    #[test]
    fn an_empty_reply_is_the_providers_until_it_generated_something() {
        let fault = decode(200, br#"{"choices":[{"message":{"content":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":0}}"#)
            .unwrap_err();
        assert_eq!(fault.kind(), FaultKind::ZeroOutput);
        assert!(fault.is_retryable());
        assert!(fault.into_blank_turn().unwrap().tool_calls().is_empty());
        assert!(decode(200, &reply(r#"{"content":""}"#, r#""stop""#)).is_ok());
        assert!(
            decode(
                200,
                br#"{"choices":[{"message":{"content":""},"finish_reason":"length"}]}"#
            )
            .is_ok()
        );
    }

    #[test]
    fn faults_are_told_apart() {
        use FaultKind as K;
        let deep = "[".repeat(REPLY_DEPTH_MAX + 1);
        let large = " ".repeat(REPLY_BYTES_MAX + 1);
        let cases: &[(u16, &str, K)] = &[
            (
                429,
                r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
                K::RateLimited,
            ),
            (
                429,
                r#"{"error":{"message":"x","code":"insufficient_quota"}}"#,
                K::QuotaExhausted,
            ),
            (
                429,
                r#"{"error":{"message":"x","type":"exceeded_current_quota_error"}}"#,
                K::QuotaExhausted,
            ),
            (402, "", K::QuotaExhausted),
            (503, "busy", K::Overloaded),
            (529, "{}", K::Overloaded),
            (502, "<html>", K::BadGateway),
            (500, r#"{"error":{"message":"boom"}}"#, K::ServerError),
            (408, "", K::RequestExpired),
            (200, "<html>checking your browser</html>", K::NotJson),
            (200, "data: {}", K::NotJson),
            (200, "", K::NotJson),
            (200, "[]", K::NotJson),
            (200, r#"{"choices":[{"message":{"role":"assis"#, K::BodyTruncated),
            (
                200,
                r#"{"error":{"message":"Provider returned error","code":502}}"#,
                K::BadGateway,
            ),
            (
                200,
                r#"{"error":{"message":"x","code":"rate_limit_exceeded"}}"#,
                K::RateLimited,
            ),
            (200, r#"{"error":"boom"}"#, K::ServerError),
            (
                200,
                r#"{"choices":[{"error":{"code":503,"message":"x"},"finish_reason":"error"}]}"#,
                K::Overloaded,
            ),
            (200, r#"{"choices":[],"usage":null}"#, K::EmptyEnvelope),
            (200, r#"{"choices":[{"message":null}]}"#, K::EmptyEnvelope),
            (200, "{}", K::EmptyEnvelope),
            (200, &deep, K::BodyTooDeep),
            (200, &large, K::BodyTooLarge),
            (401, "", K::Unauthorized),
            (403, "", K::Forbidden),
            (404, "", K::NotFound),
            (307, "", K::NotFound),
            (
                400,
                r#"{"error":{"message":"tool_choice is incompatible with thinking"}}"#,
                K::ToolChoiceRefused,
            ),
            (
                400,
                r#"{"error":{"message":"reasoning_content is missing"}}"#,
                K::LostOpaqueState,
            ),
            (
                400,
                r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
                K::ContextOverflow,
            ),
            (400, r#"{"error":{"message":"no such model"}}"#, K::BadRequest),
            (422, "", K::BadRequest),
        ];
        for (status, body, kind) in cases {
            let fault = decode(*status, body.as_bytes()).unwrap_err();
            assert_eq!(fault.kind(), *kind, "status {status}, body {:.80}", body);
        }
    }

    #[test]
    fn a_refused_key_is_not_repeated() {
        let fault = decode(401, br#"{"error":{"message":"bad key sk-canary"}}"#).unwrap_err();
        assert!(!format!("{fault} {fault:?}").contains("canary"));
        assert_eq!(fault.class(), FaultClass::Configuration);
    }

    #[test]
    fn lone_surrogates_and_odd_bytes_never_lose_a_turn() {
        let message = call(r#"{"id":"a","function":{"name":"t","arguments":"{\"r\":\"\ud800\"}"}}"#);
        assert!(
            decode(200, &reply(&message, "null")).unwrap().tool_calls()[0]
                .arguments
                .contains('\u{fffd}')
        );
        assert_eq!(decode(200, b"\xff\xfe{}").unwrap_err().kind(), FaultKind::NotJson);
    }

    #[test]
    fn brackets_inside_texts_do_not_nest() {
        assert_eq!(depth(br#"{"a":"[[\"[","b":[{}]}"#), 3);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(status in 100_u16..600, body in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            drop(decode(status, &body));
        }

        #[test]
        fn no_mangled_reply_panics(cut in 0_usize..400, at in 0_usize..400, byte in proptest::num::u8::ANY) {
            let mut body = reply(&call(r#"{"id":"a","function":{"name":"t","arguments":"{\"w\":[1,{}]}"}}"#), r#""stop""#);
            if let Some(place) = body.get_mut(at) {
                *place = byte;
            }
            body.truncate(cut);
            drop(decode(200, &body));
        }
    }
}
