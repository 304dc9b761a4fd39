//! Replies as `OpenAI` sends them, good and bad.

use crate::chat::{ModelTurn, StopReason};
use crate::dialect::Dialect;
use crate::wire::{FaultKind, ReplyFault};
use crate::wire_format::Wire;

fn decode(body: &str) -> Result<ModelTurn, ReplyFault> {
    Wire::Responses.decode(200, body.as_bytes(), &Dialect::plain())
}

const ITEMS: &str = r#"[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x1"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Buy."}]},{"type":"function_call","id":"fc_1","call_id":"c1","name":"submit_action","arguments":"{\"w\":0.10}"}]"#;

fn reply(status: &str, more: &str) -> String {
    format!(
        r#"{{"object":"response","status":"{status}","model":"m-1","error":null,"output":{ITEMS}{more},"usage":{{"input_tokens":10,
        "input_tokens_details":{{"cached_tokens":4}},"output_tokens":8,"output_tokens_details":{{"reasoning_tokens":5}}}}}}"#
    )
}

#[test]
fn items_are_read_and_kept_as_they_came() {
    let turn = decode(&reply("completed", "")).unwrap();
    assert_eq!((turn.text(), turn.reasoning()), (Some("Buy."), Some("hm")));
    let call = &turn.tool_calls()[0];
    assert_eq!(
        (call.id.as_str(), call.arguments.as_str()),
        ("c1", r#"{"w":0.10}"#)
    );
    assert_eq!(turn.stop(), StopReason::ToolCalls);
    assert_eq!(turn.raw().get(), ITEMS);
    let usage = turn.usage();
    assert_eq!((usage.uncached_input, usage.cache_read), (6, 4));
    assert_eq!((usage.visible_output, usage.reasoning_output), (3, 5));
}

#[test]
fn the_end_of_a_response_is_told_from_its_status() {
    let cut = reply(
        "incomplete",
        r#","incomplete_details":{"reason":"max_output_tokens"}"#,
    );
    assert_eq!(decode(&cut).unwrap().stop(), StopReason::Length);
    let refused = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}"#;
    assert_eq!(decode(refused).unwrap().stop(), StopReason::Refusal);
    for (body, kind) in [
        (
            r#"{"status":"failed","error":{"code":"rate_limit_exceeded","message":""}}"#,
            FaultKind::RateLimited,
        ),
        (
            r#"{"status":"failed","error":{"code":"server_error","message":""}}"#,
            FaultKind::ServerError,
        ),
        (
            r#"{"status":"failed","error":{"code":"invalid_prompt","message":""}}"#,
            FaultKind::BadRequest,
        ),
        (r#"{"status":"in_progress","output":[]}"#, FaultKind::ServerError),
        (r#"{"status":"completed"}"#, FaultKind::EmptyEnvelope),
    ] {
        assert_eq!(decode(body).unwrap_err().kind(), kind, "{body}");
    }
}

#[test]
fn the_last_event_of_a_stream_is_the_response() {
    let whole = reply("completed", "").replace('\n', " ");
    let stream = format!(
        "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{\"status\":\"in_progress\"}}}}\n\nevent: response.completed\ndata: {{\"type\":\"response.completed\",\"response\":{whole}}}\n\n"
    );
    assert_eq!(decode(&stream).unwrap().tool_calls().len(), 1);
    let cut = stream.split("event: response.completed").next().unwrap();
    assert_eq!(decode(cut).unwrap_err().kind(), FaultKind::StreamTruncated);
    let failed =
        "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}\n\n";
    assert_eq!(decode(failed).unwrap_err().kind(), FaultKind::RateLimited);
}

#[test]
fn what_the_vendor_charged_is_read_where_the_dialect_says() {
    let mut dialect = Dialect::plain();
    dialect.usage.cost = Some("/cost".to_owned());
    let body =
        r#"{"status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1,"cost":0.0025}}"#;
    let cost = |dialect| {
        let turn = Wire::Responses.decode(200, body.as_bytes(), dialect).unwrap();
        turn.usage().vendor_cost_picodollars
    };
    assert_eq!(cost(&dialect), Some(2_500_000_000));
    assert_eq!(cost(&Dialect::plain()), None);
}
