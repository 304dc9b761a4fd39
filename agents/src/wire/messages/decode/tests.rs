//! Replies as Anthropic sends them, good and bad.

use crate::chat::{ModelTurn, StopReason};
use crate::dialect::Dialect;
use crate::wire::{FaultKind, ReplyFault};
use crate::wire_format::Wire;

fn decode(status: u16, body: &str) -> Result<ModelTurn, ReplyFault> {
    Wire::Messages.decode(status, body.as_bytes(), &Dialect::plain())
}

#[test]
fn blocks_are_read_and_kept_as_they_came() {
    let blocks = r#"[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"Buy."},{"type":"tool_use","id":"t1","name":"submit_action","input":{"w":0.10, "n":[1]}}]"#;
    let turn = decode(200, &format!(
        r#"{{"type":"message","role":"assistant","model":"m-1","content":{blocks},"stop_reason":"tool_use","usage":{{"input_tokens":5,
        "cache_read_input_tokens":7,"cache_creation_input_tokens":9,"cache_creation":{{"ephemeral_5m_input_tokens":4,
        "ephemeral_1h_input_tokens":5}},"output_tokens":6,"output_tokens_details":{{"thinking_tokens":2}}}}}}"#
    ))
    .unwrap();
    assert_eq!((turn.text(), turn.reasoning()), (Some("Buy."), Some("hm")));
    assert_eq!(turn.tool_calls()[0].arguments, r#"{"w":0.10, "n":[1]}"#);
    assert_eq!(turn.stop(), StopReason::ToolCalls);
    assert_eq!(turn.raw().get(), blocks);
    let usage = turn.usage();
    assert_eq!((usage.uncached_input, usage.cache_read), (5, 7));
    assert_eq!((usage.cache_write_5m, usage.cache_write_1h), (4, 5));
    assert_eq!((usage.visible_output, usage.reasoning_output), (4, 2));
    assert!(turn.normalised().is_empty());
}

#[test]
fn a_stream_makes_the_same_message() {
    let turn = decode(200, concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"t\",\"input\":{}}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\":1}\"}}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ))
    .unwrap();
    assert_eq!(turn.tool_calls()[0].arguments, r#"{"x":1}"#);
    assert_eq!((turn.usage().input(), turn.usage().output()), (5, 9));
}

#[test]
fn a_stream_cut_inside_a_call_keeps_the_models_text_and_goes_back_wrapped() {
    let turn = decode(200, concat!(
        "data: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"t\",\"input\":{}}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\"\"}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\n",
    ))
    .unwrap();
    assert_eq!(turn.tool_calls()[0].arguments, r#"{"x""#);
    assert_eq!(turn.stop(), StopReason::Length);
    assert!(
        turn.raw().get().contains(r#"{"INVALID_JSON":"{\"x\""}"#),
        "{}",
        turn.raw()
    );
}

fn error(kind: &str, message: &str) -> String {
    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
}

#[test]
fn faults_are_told_apart() {
    use FaultKind as K;
    let event = |kind| format!("event: error\ndata: {}\n\n", error(kind, ""));
    for (status, body, kind) in [
        (529, error("overloaded_error", "Overloaded"), K::Overloaded),
        (200, event("overloaded_error"), K::Overloaded),
        (200, event("authentication_error"), K::Unauthorized),
        (200, error("timeout_error", ""), K::BadGateway),
        (
            200,
            "data: {\"type\":\"ping\"}\n\n".to_owned(),
            K::StreamTruncated,
        ),
        (
            401,
            error("authentication_error", "invalid x-api-key"),
            K::Unauthorized,
        ),
        (200, r#"{"type":"message"}"#.to_owned(), K::EmptyEnvelope),
    ] {
        assert_eq!(decode(status, &body).unwrap_err().kind(), kind, "{body}");
    }
}

#[test]
fn refused_requests_are_told_apart_by_their_words() {
    use FaultKind as K;
    for (message, kind) in [
        ("prompt is too long: 210000 tokens", K::ContextOverflow),
        (
            "Thinking may not be enabled when tool_choice forces tool use",
            K::ToolChoiceRefused,
        ),
        (
            "The request body is not valid JSON: unexpected end of data",
            K::RequestExpired,
        ),
        ("Your credit balance is too low", K::QuotaExhausted),
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            K::LostOpaqueState,
        ),
        (
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after",
            K::LostOpaqueState,
        ),
        ("temperature: range: 0..1", K::BadRequest),
    ] {
        let body = error("invalid_request_error", message);
        assert_eq!(decode(400, &body).unwrap_err().kind(), kind, "{message}");
    }
}

#[test]
fn a_stream_keeps_signatures_citations_and_the_text_of_arguments() {
    let turn = decode(200, concat!(
        "data: {\"type\":\"message_start\",\"message\":{\"content\":[],\"stop_reason\":null}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"h\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"m\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2ln\"}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"x\\u0031\"}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"Bu\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":\"y.\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"citations_delta\",\"citation\":{\"n\":1.0}}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"t\",\"input\":{}}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"z\\\": 1.50,\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"a\\\":2}\"}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"input_tokens\":1,\"output_tokens\":9}}\n\n",
    ))
    .unwrap();
    assert_eq!((turn.text(), turn.reasoning()), (Some("Buy."), Some("hm")));
    assert_eq!(turn.tool_calls()[0].arguments, r#"{"z": 1.50,"a":2}"#);
    assert_eq!(
        turn.raw().get(),
        concat!(
            r#"[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"x\u0031"},"#,
            r#"{"type":"text","text":"Buy.","citations":[{"n":1.0}]},"#,
            r#"{"type":"tool_use","id":"t1","name":"t","input":{"z": 1.50,"a":2}}]"#
        )
    );
}

#[test]
fn a_cut_reply_is_never_a_turn() {
    let whole = r#"{"content":[{"type":"text","text":"Buy."}],"stop_reason":"end_turn"}"#;
    assert!(decode(200, whole).is_ok());
    for end in 0..whole.len() {
        assert!(decode(200, &whole[..end]).is_err(), "{end}");
    }
}
