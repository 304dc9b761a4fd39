//! Faults seen in the wild: each gets its class, and its kind where that is a name of ours.

use ktd_agents::{Dialect, Expected, ForceLevel, Normalised, Verdict, Wire};
use ktd_env::exchange::{Account, Rules};
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{DayIndex, FactorTable};
use ktd_kit::golden::outside;
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Numeric};
use ktd_tools::{SUBMIT_ACTION, ToolContext, ToolLimits, parse_action};
use serde_json::{Map, Value, json};

/// A tool of which several calls in one reply are in order.
const RESEARCH: &str = "get_market_context";

/// A case over a wire.
struct Reply {
    wire: Wire,
    status: u16,
    body: String,
}

impl Reply {
    fn judge(&self, forced: Option<ForceLevel>) -> Verdict {
        let dialect = Dialect::plain();
        let expected = Expected {
            tools: &[RESEARCH, SUBMIT_ACTION],
            forced,
            submission: Some(SUBMIT_ACTION),
            self_hosted: dialect.self_hosted,
        };
        let reply = self.wire.decode(self.status, self.body.as_bytes(), &dialect);
        Verdict::of(reply.as_ref(), &expected)
    }
}

/// The replies that a case stands for. What is said of the status or of the body as a whole holds on every wire; a
/// stream of events and a stop reason belong to the wires that have such; the rest are replies of Chat Completions.
fn replies(case: &Value) -> Vec<Reply> {
    let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
    let over = |wires: &[Wire], body: String| -> Vec<Reply> {
        let reply = |wire: &Wire| Reply {
            wire: *wire,
            status,
            body: body.clone(),
        };
        wires.iter().map(reply).collect()
    };
    if let Some(events) = case["sse"].as_array() {
        return over(
            &Wire::ALL,
            events.iter().map(|event| event.as_str().unwrap()).collect(),
        );
    }
    if let Some(raw) = case["raw"].as_str() {
        return over(&Wire::ALL, raw.to_owned());
    }
    if let body @ Value::Object(members) = &case["body"] {
        let is_turn = members.contains_key("choices");
        let wires = if is_turn { &Wire::ALL[..1] } else { &Wire::ALL[..] };
        return over(wires, body.to_string());
    }
    if !case["finish"].is_null() {
        let candidate = json!({ "content": {}, "finishReason": case["finish"] });
        let body = json!({ "candidates": [candidate], "usageMetadata": { "promptTokenCount": 10 } });
        return over(&[Wire::GenerateContent], body.to_string());
    }
    if !case["stop"].is_null() {
        let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
        let body = json!({ "content": [], "stop_reason": case["stop"], "usage": usage });
        return over(&[Wire::Messages], body.to_string());
    }
    over(&[Wire::ChatCompletions], chat_reply(case).to_string())
}

/// A good submission, but for what the case says.
fn chat_reply(case: &Value) -> Value {
    let said = |key: &str| case.get(key).cloned();
    let arguments = said("args").or_else(|| said("args_object"));
    let arguments = arguments.unwrap_or_else(|| json!(r#"{"orders":[],"overall_reason":"hold"}"#));
    let name = said("name").unwrap_or_else(|| match said("ids") {
        None => json!(SUBMIT_ACTION),
        Some(_) => json!(RESEARCH),
    });
    let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let calls: Vec<Value> = match (
        said("tool_call"),
        case["ids"].as_array(),
        case["n_calls"].as_u64(),
    ) {
        (Some(call), _, _) => vec![call],
        (None, Some(ids), _) => ids.iter().map(|id| call(id.as_str().unwrap())).collect(),
        (None, None, count) => (0..count.unwrap_or(1))
            .map(|number| call(&format!("call_{number}")))
            .collect(),
    };
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), case["content"].clone());
    if case["content"].is_null() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    json!({
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": message }],
        "usage": said("usage").unwrap_or(usage),
    })
}

/// Under which force levels a class is told: `infra under F0/F1` names some, `model under F2+` one and those below.
fn classes(case: &Value) -> Vec<(String, Option<ForceLevel>)> {
    let class = case["class"].as_str().unwrap();
    if !class.contains(" under ") {
        // Several calls with ids of their own are research, where nothing is forced.
        let forced = case["ids"].is_null().then_some(ForceLevel::Named);
        return vec![(class.to_owned(), forced)];
    }
    let mut told = Vec::new();
    for part in class.split(", ") {
        let (class, levels) = part.split_once(" under ").unwrap();
        let named: Vec<ForceLevel> = match levels.strip_suffix('+') {
            None => levels
                .split('/')
                .map(|label| ForceLevel::parse(label).unwrap())
                .collect(),
            Some(label) => {
                let first = ForceLevel::parse(label).unwrap();
                let below = ForceLevel::LADDER.into_iter().filter(|level| *level >= first);
                // Where text is asked for, a call in it is what was asked for.
                below.filter(|level| level.is_by_call()).collect()
            }
        };
        told.extend(named.into_iter().map(|level| (class.to_owned(), Some(level))));
    }
    told
}

/// What our own words for a case are: the outcome, and the kind as one of ours.
fn outcome(class: &str, kind: &str) -> (&'static str, String) {
    if let Some((_, code)) = kind.split_once(':') {
        return ("normalised", code.to_owned());
    }
    let outcome = match class {
        "infra" => "infra_fault",
        "config" => "config_fault",
        "model" => "model_fault",
        "harness_bug" => "harness_bug",
        "normalised" => "normalised",
        other => panic!("a class of none of ours: {other}"),
    };
    (outcome, kind.to_owned())
}

fn check(case: &Value, reply: &Reply) {
    let id = case["id"].as_str().unwrap();
    let kind = case["kind"].as_str().unwrap();
    for (class, forced) in classes(case) {
        let verdict = reply.judge(forced);
        let place = format!("{id} over {} under {forced:?}: {verdict:?}", reply.wire.label());
        let (outcome, code) = outcome(&class, kind);
        if kind == "schema" {
            // The turn is in order; the tool's own schema refuses it.
            assert_eq!(verdict, Verdict::Valid, "{place}");
            assert!(is_refused(case["args"].as_str().unwrap()), "{place}");
            continue;
        }
        assert_eq!(verdict.label(), outcome, "{place}");
        if kind == "by inner code" {
            let inner = Reply {
                status: u16::try_from(case["body"]["error"]["code"].as_u64().unwrap()).unwrap(),
                wire: reply.wire,
                body: String::new(),
            };
            assert_eq!(verdict, inner.judge(forced), "{place}");
        } else {
            // A class told by levels has one word for both sides; the server's side has a word of its own.
            let is_leak = class == "infra" && case["class"] != "infra";
            let code = if is_leak {
                "server_parser_leak"
            } else {
                code.as_str()
            };
            assert_eq!(verdict.kinds(), [code], "{place}");
        }
        check_retry(case, &verdict, &place);
        if let Verdict::Normalised(list) = &verdict {
            let is_repair = list.iter().copied().all(Normalised::is_repair);
            assert_eq!(is_repair, kind.starts_with("repaired:"), "{place}");
        }
    }
}

/// Faults of the infrastructure are sent again exactly where the case says so.
fn check_retry(case: &Value, verdict: &Verdict, place: &str) {
    let Verdict::InfraFault(kind) = verdict else {
        return;
    };
    let retry = case["retry"].as_str().unwrap();
    if ["same request", "backoff", "bounded"]
        .iter()
        .any(|word| retry.starts_with(word))
    {
        assert!(kind.is_retryable(), "{place}");
    } else if retry.starts_with("never") || retry.starts_with("no;") {
        assert!(!kind.is_retryable(), "{place}");
    }
}

/// Whether `submit_action` refuses these arguments.
fn is_refused(arguments: &str) -> bool {
    let market = generate(&SynthConfig {
        seed: 5,
        names: 12,
        days: 300,
    })
    .unwrap();
    let window: Vec<DayIndex> = (280..290).filter_map(|day| market.day_at(day)).collect();
    let rules = Rules::default();
    let account = Account::with_cash(rules.initial_cash);
    let frame = EpisodeFrame {
        market: &market,
        window: &window,
        initial_cash: rules.initial_cash,
    };
    let settings = MaskSettings {
        level: Level::Blinded,
        numeric: Numeric::Exact,
    };
    let mask = Mask::new(settings, &MaskKey::from_bytes([5; 32]).derive("faults"), &frame).unwrap();
    let factors = FactorTable::new(&market, &FactorConfig::KTD, window[0], window[0]).unwrap();
    let as_of = market.as_of(window[0]).with_factors(&factors);
    let context = ToolContext {
        as_of: &as_of,
        account: &account,
        mask: &mask,
        rules: &rules,
        limits: &ToolLimits::default(),
        last_step: None,
        step: 1,
    };
    assert!(parse_action(&context, r#"{"orders":[],"overall_reason":"nothing stands out"}"#).is_ok());
    parse_action(&context, arguments).is_err()
}

#[test]
fn every_fault_gets_its_class() {
    let Some(folder) = outside("providers") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("failures.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut judged = 0;
    for case in &cases {
        for reply in replies(case) {
            check(case, &reply);
            judged += 1;
        }
    }
    println!(
        "{} of {} faults get their class, in {judged} replies",
        cases.len(),
        cases.len()
    );
    assert!(!cases.is_empty());
}
