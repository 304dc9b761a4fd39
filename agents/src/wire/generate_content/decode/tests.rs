//! Replies as Gemini sends them, good and bad.

use crate::chat::{ModelTurn, Normalised, StopReason};
use crate::dialect::Dialect;
use crate::force::ForceLevel;
use crate::model_fault::ModelFault;
use crate::verdict::{Expected, Verdict};
use crate::wire::{FaultKind, ReplyFault};
use crate::wire_format::Wire;

fn decode(status: u16, body: &str) -> Result<ModelTurn, ReplyFault> {
    Wire::GenerateContent.decode(status, body.as_bytes(), &Dialect::plain())
}

fn verdict(body: &str) -> Verdict {
    let expected = Expected {
        tools: &["submit_action"],
        forced: Some(ForceLevel::Named),
        submission: Some("submit_action"),
        self_hosted: false,
    };
    Verdict::of(decode(200, body).as_ref(), &expected)
}

const PARTS: &str = r#"[{"text":"hm","thought":true},{"text":"Buy."},{"functionCall":{"name":"submit_action","args":{"w":0.10, "n":[1]}},"thoughtSignature":"c2ln"}]"#;

#[test]
fn parts_are_read_and_kept_as_they_came() {
    let turn = decode(200, &format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":{PARTS}}},"finishReason":"STOP","index":0}}],
        "modelVersion":"m-1-001","usageMetadata":{{"promptTokenCount":20,"cachedContentTokenCount":8,"candidatesTokenCount":5,
        "thoughtsTokenCount":7,"toolUsePromptTokenCount":3,"totalTokenCount":35}}}}"#
    ))
    .unwrap();
    assert_eq!((turn.text(), turn.reasoning()), (Some("Buy."), Some("hm")));
    assert_eq!(turn.tool_calls()[0].arguments, r#"{"w":0.10, "n":[1]}"#);
    assert_eq!(turn.stop(), StopReason::Stop);
    assert_eq!(turn.raw().get(), PARTS);
    assert_eq!(turn.served().model.as_deref(), Some("m-1-001"));
    assert_eq!(turn.normalised(), [Normalised::IdMinted]);
    let usage = turn.usage();
    assert_eq!(
        (usage.uncached_input, usage.cache_read, usage.tool_prompt),
        (12, 8, 3)
    );
    assert_eq!((usage.visible_output, usage.reasoning_output), (5, 7));
    assert_eq!(usage.input() + usage.output(), 35);
}

#[test]
fn a_stream_makes_the_same_reply() {
    let turn = decode(200, concat!(
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Bu\"}]},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":4}}\r\n\r\n",
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"y.\"},{\"functionCall\":{\"name\":\"t\",\"args\":{\"x\":1.50}}}]}}]}\r\n\r\n",
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"\",\"thoughtSignature\":\"s\"}]},\"finishReason\":\"STOP\"}],\"modelVersion\":\"m\",\"usageMetadata\":{\"promptTokenCount\":4,\"candidatesTokenCount\":6}}\r\n\r\n",
    ))
    .unwrap();
    assert_eq!(turn.text(), Some("Buy."));
    assert_eq!(turn.tool_calls()[0].arguments, r#"{"x":1.50}"#);
    assert_eq!(
        turn.raw().get(),
        r#"[{"text":"Bu"},{"text":"y."},{"functionCall":{"name":"t","args":{"x":1.50}}},{"text":"","thoughtSignature":"s"}]"#
    );
    assert_eq!((turn.usage().input(), turn.usage().output()), (4, 6));
    assert_eq!(turn.served().model.as_deref(), Some("m"));
}

#[test]
fn blocked_filtered_and_malformed_are_the_models_faults() {
    let usage = r#""usageMetadata":{"promptTokenCount":9}"#;
    for (body, fault) in [
        (
            format!(r#"{{"promptFeedback":{{"blockReason":"SAFETY"}},{usage}}}"#),
            ModelFault::Refusal,
        ),
        (
            format!("data: {{\"promptFeedback\":{{\"blockReason\":\"OTHER\"}},{usage}}}\n\n"),
            ModelFault::Refusal,
        ),
        (
            format!(r#"{{"candidates":[{{"finishReason":"RECITATION"}}],{usage}}}"#),
            ModelFault::Refusal,
        ),
        (
            format!(r#"{{"candidates":[{{"finishReason":"MALFORMED_FUNCTION_CALL"}}],{usage}}}"#),
            ModelFault::ArgumentsMalformed,
        ),
        (
            format!(
                r#"{{"candidates":[{{"content":{{"role":"model"}},"finishReason":"MAX_TOKENS"}}],{usage}}}"#
            ),
            ModelFault::Truncated,
        ),
    ] {
        assert_eq!(verdict(&body), Verdict::ModelFault(fault), "{body}");
    }
}

#[test]
fn faults_are_told_apart() {
    use FaultKind as K;
    let error = |code: u16, status: &str, message: &str| {
        format!(r#"{{"error":{{"code":{code},"status":"{status}","message":"{message}"}}}}"#)
    };
    let finish = |reason: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[]}},"finishReason":"{reason}"}}],"usageMetadata":{{"promptTokenCount":1}}}}"#
        )
    };
    let key = r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"No.","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    for (status, body, kind) in [
        (400, key.to_owned(), K::Unauthorized),
        (
            400,
            error(
                400,
                "INVALID_ARGUMENT",
                "Function call is missing a thought_signature",
            ),
            K::LostOpaqueState,
        ),
        (200, finish("MISSING_THOUGHT_SIGNATURE"), K::LostOpaqueState),
        (200, finish("STOP"), K::ZeroOutput),
        (
            400,
            error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            ),
            K::ContextOverflow,
        ),
        (429, error(429, "RESOURCE_EXHAUSTED", "Slow."), K::RateLimited),
        (
            200,
            format!("data: {}\n\n", error(503, "UNAVAILABLE", "Busy.")),
            K::Overloaded,
        ),
        (500, error(500, "INTERNAL", "Oh."), K::ServerError),
        (504, error(504, "DEADLINE_EXCEEDED", "Late."), K::BadGateway),
        (
            200,
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I w\"}]}}]}\n\n".to_owned(),
            K::StreamTruncated,
        ),
        (200, "{\"usageMetadata\":{}}".to_owned(), K::EmptyEnvelope),
    ] {
        assert_eq!(decode(status, &body).unwrap_err().kind(), kind, "{body}");
    }
}

#[test]
fn the_wait_is_read_from_the_error() {
    let details = r#"{"error":{"code":429,"message":"Please retry in 99s.","details":[{"@type":"x/Help"},{"@type":"x/RetryInfo","retryDelay":"36.2s"}]}}"#;
    assert_eq!(decode(429, details).unwrap_err().retry_after_seconds(), Some(37));
    let sentence = r#"{"error":{"code":429,"message":"Please retry in 12.5s."}}"#;
    assert_eq!(decode(429, sentence).unwrap_err().retry_after_seconds(), Some(13));
    assert_eq!(decode(429, "{}").unwrap_err().retry_after_seconds(), None);
}

#[test]
fn arguments_that_are_no_object_go_back_wrapped() {
    let turn = decode(200, r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":"{'a'"},"thoughtSignature":"s"}]},"finishReason":"STOP"}]}"#).unwrap();
    assert_eq!(turn.tool_calls()[0].arguments, "{'a'");
    assert_eq!(
        turn.raw().get(),
        r#"[{"functionCall":{"name":"t","args":{"INVALID_JSON":"{'a'"}},"thoughtSignature":"s"}]"#
    );
}

#[test]
fn a_cut_reply_is_never_a_turn() {
    let whole = format!(r#"{{"candidates":[{{"content":{{"parts":{PARTS}}},"finishReason":"STOP"}}]}}"#);
    assert!(decode(200, &whole).is_ok());
    for end in 0..whole.len() {
        assert!(decode(200, &whole[..end]).is_err(), "{end}");
    }
}

#[test]
fn of_several_candidates_the_first_is_read() {
    let stream = concat!(
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"no\"}]},\"index\":1},{\"content\":{\"parts\":[{\"text\":\"ye\"}]},\"index\":0}]}\n\n",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"s\"}]},\"finishReason\":\"STOP\"}]}\n\n",
    );
    assert_eq!(decode(200, stream).unwrap().text(), Some("yes"));
}
