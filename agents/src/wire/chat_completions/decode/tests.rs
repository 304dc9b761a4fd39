//! Replies as providers send them, good and bad.

use crate::chat::{ModelTurn, Normalised, StopReason};
use crate::dialect::Dialect;
use crate::usage::Usage;
use crate::wire::{FaultClass, FaultKind, REPLY_BYTES_MAX, REPLY_DEPTH_MAX, ReplyFault};
use crate::wire_format::Wire;
use std::collections::BTreeSet;

fn decode(status: u16, body: &[u8]) -> Result<ModelTurn, ReplyFault> {
    Wire::ChatCompletions.decode(status, body, &Dialect::plain())
}

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
    let usage = turn.usage();
    assert_eq!((usage.uncached_input, usage.cache_read), (6, 4));
    assert_eq!((usage.visible_output, usage.reasoning_output), (3, 2));
    assert!(turn.normalised().is_empty());
}

#[test]
fn a_refusal_is_what_the_model_said() {
    let turn = decode(200, &reply(r#"{"content":null,"refusal":"No."}"#, r#""stop""#)).unwrap();
    assert_eq!((turn.text(), turn.stop()), (Some("No."), StopReason::Refusal));
}

#[test]
fn reasoning_stands_where_the_dialect_says() {
    let body = reply(
        r#"{"content":"Buy.","thinking":"hm","reasoning":"because","reasoning_content":""}"#,
        r#""stop""#,
    );
    let reasoning = |fields: &[&str]| {
        let mut dialect = Dialect::plain();
        dialect.reasoning.fields = fields.iter().map(ToString::to_string).collect();
        let turn = Wire::ChatCompletions.decode(200, &body, &dialect).unwrap();
        turn.reasoning().map(str::to_owned)
    };
    assert_eq!(reasoning(&[]).as_deref(), Some("because"));
    assert_eq!(reasoning(&["thinking"]).as_deref(), Some("hm"));
    assert_eq!(
        reasoning(&["reasoning_content", "thinking"]).as_deref(),
        Some("hm")
    );
    assert_eq!(reasoning(&["reasoning_content"]), None);
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
    let turn = decode(
        200,
        br#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}],"usage":null}"#,
    )
    .unwrap();
    assert_eq!(turn.text(), Some("ab"));
    assert_eq!(turn.usage(), Usage::default());
    assert_eq!(turn.normalised(), [Normalised::UsageUnknown]);
    assert!(turn.raw().get().ends_with(r#","role":"assistant"}"#));
}

#[test]
fn no_call_goes_back_as_no_member() {
    for none in ["null", "[]"] {
        let message = format!(r#"{{"role":"assistant","content":"a","tool_calls":{none},"refusal":null}}"#);
        let turn = decode(200, &reply(&message, r#""stop""#)).unwrap();
        assert_eq!(
            turn.raw().get(),
            r#"{"role":"assistant","content":"a","refusal":null}"#
        );
        assert!(turn.normalised().is_empty());
    }
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

fn assert_kinds(cases: &[(u16, &str, FaultKind)]) {
    for (status, body, kind) in cases {
        let fault = decode(*status, body.as_bytes()).unwrap_err();
        assert_eq!(fault.kind(), *kind, "status {status}, body {body:.80}");
    }
}

#[test]
fn statuses_are_told_apart() {
    use FaultKind as K;
    assert_kinds(&[
        (429, r#"{"error":{"type":"rate_limit_error"}}"#, K::RateLimited),
        (
            429,
            r#"{"error":{"code":"insufficient_quota"}}"#,
            K::QuotaExhausted,
        ),
        (
            429,
            r#"{"error":{"type":"exceeded_current_quota_error"}}"#,
            K::QuotaExhausted,
        ),
        (402, "", K::QuotaExhausted),
        (503, "busy", K::Overloaded),
        (529, "{}", K::Overloaded),
        (502, "<html>", K::BadGateway),
        (500, r#"{"error":{"message":"boom"}}"#, K::ServerError),
        (408, "", K::RequestExpired),
        (401, "", K::Unauthorized),
        (403, "", K::Forbidden),
        (404, "", K::NotFound),
        (307, "", K::Redirected),
        (
            400,
            r#"{"error":{"message":"tool_choice clashes"}}"#,
            K::ToolChoiceRefused,
        ),
        (
            400,
            r#"{"error":{"message":"reasoning_content is missing"}}"#,
            K::LostOpaqueState,
        ),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded"}}"#,
            K::ContextOverflow,
        ),
        (400, r#"{"error":{"message":"no such model"}}"#, K::BadRequest),
        (422, "", K::BadRequest),
    ]);
}

#[test]
fn a_success_that_holds_no_turn_is_a_fault() {
    use FaultKind as K;
    let deep = "[".repeat(REPLY_DEPTH_MAX + 1);
    let large = " ".repeat(REPLY_BYTES_MAX + 1);
    let inner = r#"{"choices":[{"error":{"code":503},"finish_reason":"error"}]}"#;
    assert_kinds(&[
        (200, "<html>checking your browser</html>", K::NotJson),
        (200, "data: {}", K::StreamTruncated),
        (200, "", K::NotJson),
        (200, "[]", K::NotJson),
        (200, r#"{"choices":[{"message":{"role":"assis"#, K::BodyTruncated),
        (200, r#"{"error":{"code":502}}"#, K::BadGateway),
        (200, r#"{"error":{"code":"rate_limit_exceeded"}}"#, K::RateLimited),
        (200, r#"{"error":"boom"}"#, K::ServerError),
        (200, inner, K::Overloaded),
        (200, r#"{"choices":[],"usage":null}"#, K::EmptyEnvelope),
        (200, r#"{"choices":[{"message":null}]}"#, K::EmptyEnvelope),
        (200, "{}", K::EmptyEnvelope),
        (200, &deep, K::BodyTooDeep),
        (200, &large, K::BodyTooLarge),
    ]);
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
