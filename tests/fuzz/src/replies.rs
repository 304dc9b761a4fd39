//! Replies of the four wires, bodies and event streams alike.

use super::{assert_explained, split_choice};
use ktd_agents::{
    CALLS_PER_REPLY_MAX, ChatRequest, DecodedReply, Dialect, DialectTable, Expected, ForceLevel, Message,
    ModelTurn, ReplyFormat, Sampling, Thinking, ToolChoice, UsageBound, Verdict, Wire, WireReply,
    arguments_of_printed_call, object_in_text,
};
use ktd_masking::Payload;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

const STATUSES: [u16; 6] = [200, 200, 201, 307, 429, 500];
const TOOLS: [&str; 2] = ["get_market_context", "submit_action"];

pub(crate) fn chat_completions(input: &[u8]) {
    reply(Wire::ChatCompletions, input);
}

pub(crate) fn responses(input: &[u8]) {
    reply(Wire::Responses, input);
}

pub(crate) fn messages(input: &[u8]) {
    reply(Wire::Messages, input);
}

pub(crate) fn generate_content(input: &[u8]) {
    reply(Wire::GenerateContent, input);
}

/// The dialects of a wire: the plain one, and those of the table.
fn dialects(wire: Wire) -> &'static [Dialect] {
    static ALL: OnceLock<Vec<(Wire, Vec<Dialect>)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let table = DialectTable::builtin().expect("the table is compiled in");
        let of = |wire| {
            let rows = table.rows().iter().filter_map(move |row| row.on(wire));
            (wire, std::iter::once(Dialect::plain()).chain(rows).collect())
        };
        Wire::ALL.map(of).to_vec()
    });
    let of_wire = all.iter().find(|(of, _)| *of == wire);
    of_wire.map_or(&[], |(_, dialects)| dialects)
}

/// The first byte chooses status and dialect; the rest is the body.
fn reply(wire: Wire, input: &[u8]) {
    let (choice, body) = split_choice(input);
    let dialects = dialects(wire);
    let dialect = &dialects[choice / STATUSES.len() % dialects.len()];
    let mut reply = WireReply::new(STATUSES[choice % STATUSES.len()], body.to_vec());
    reply
        .headers
        .insert("location".to_owned(), "https://new.example/v1".to_owned());
    let bound = UsageBound::of(10_000, Some(1_000));
    let decoded = DecodedReply::read(wire, dialect, &reply, bound);
    if let Some(usage) = decoded.usage() {
        assert!(
            usage.input() <= bound.input && usage.output() <= bound.output,
            "{usage:?}"
        );
    }
    for forced in [None, Some(ForceLevel::Named), Some(ForceLevel::Json)] {
        let verdict = decoded.verdict(&Expected {
            tools: &TOOLS,
            forced,
            submission: Some("submit_action"),
            self_hosted: choice % 2 == 0,
        });
        assert_eq!(verdict.kinds().is_empty(), verdict == Verdict::Valid);
    }
    match decoded.into_turn() {
        Ok(turn) => check_turn(wire, dialect, turn, body.len()),
        Err(fault) => {
            assert_explained(&fault);
            assert_explained(&fault.hint());
        }
    }
}

fn check_turn(wire: Wire, dialect: &Dialect, turn: ModelTurn, bytes: usize) {
    let calls = turn.tool_calls();
    assert!(calls.len() <= CALLS_PER_REPLY_MAX);
    let ids: BTreeSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), calls.len(), "ids of calls are unique");
    for call in calls.iter().filter(|call| call.arguments.is_object()) {
        assert!(is_object(call.arguments.as_bytes()), "arguments are an object");
    }
    if let Some((object, is_extracted)) = turn.text().and_then(object_in_text) {
        assert_eq!(turn.text().map(str::trim) != Some(&object), is_extracted);
        if let Some(arguments) = arguments_of_printed_call(&object, "submit_action") {
            assert!(object.contains(&arguments));
        }
    }
    check_next_request(wire, dialect, turn, bytes);
}

/// What came back is sent back in every later request: as JSON, and not many times as long.
fn check_next_request(wire: Wire, dialect: &Dialect, turn: ModelTurn, bytes: usize) {
    let turn = Arc::new(turn);
    let answers = turn.tool_calls().iter().map(|call| Message::Tool {
        call_id: call.id.clone(),
        content: Payload::label("answer"),
    });
    let answers: Vec<Message> = answers.collect();
    let request: ChatRequest = ChatRequest {
        model: "model".to_owned(),
        messages: std::iter::once(Message::Assistant(Arc::clone(&turn)))
            .chain(answers)
            .collect(),
        tools: Arc::new([]),
        tool_choice: ToolChoice::Auto,
        reply_format: ReplyFormat::Free,
        thinking: Thinking::VendorDefault,
        sampling: Sampling::default(),
        cache_key: None,
    };
    let encoded = wire.encode(&request, dialect);
    assert!(is_object(encoded.body()), "a request is an object");
    let bound = 8 * bytes + 256 * turn.tool_calls().len() + 4_096;
    assert!(
        encoded.body().len() <= bound,
        "{} bytes of {bytes}",
        encoded.body().len()
    );
}

/// Whether bytes are a JSON object. Lone surrogates, which no text can hold, go back to the model as they came.
fn is_object(json: &[u8]) -> bool {
    json.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(json).is_ok()
}
