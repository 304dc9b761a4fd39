//! What a reply says by its JSON alone, and what our reading of it is held against.

use crate::golden::providers::lift::items;
use crate::golden::providers::recorded::{Exchange, Tally};
use ktd_agents::{Dialect, Expected, ForceLevel, ModelTurn, StopReason, UsageSource, Verdict, Wire};
use serde_json::{Value, json};

/// A reply as the test reads it from its JSON.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: Option<String>,
    pub(crate) reasoning: Option<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) stop: StopReason,
    pub(crate) usage: Option<Tokens>,
    pub(crate) model: Option<String>,
    /// What goes back with the next request.
    pub(crate) raw: Value,
}

/// A call as it is written, its arguments as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Token counts as the vendor reports them: caches inside the input, reasoning inside the output.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) output: u64,
    pub(crate) reasoning: u64,
    pub(crate) total: Option<u64>,
    /// US dollars.
    pub(crate) cost: Option<f64>,
}

/// A text that is there and not empty.
pub(crate) fn some_text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

impl Call {
    fn is_object(&self) -> bool {
        serde_json::from_str::<Value>(&self.arguments).is_ok_and(|value| value.is_object())
    }

    /// No arguments at all are none.
    fn has_empty_arguments(&self) -> bool {
        matches!(self.arguments.trim(), "" | "null")
    }

    /// What our reading must give: only arguments that are absent are repaired in recorded replies.
    fn expected_arguments(&self) -> &str {
        if self.has_empty_arguments() {
            "{}"
        } else {
            &self.arguments
        }
    }
}

/// Holds our reading against the test's. From JSON the turn goes back byte for byte, unless arguments are no object.
pub(crate) fn compare(exchange: &Exchange, said: &Said, turn: &ModelTurn) {
    let place = exchange.place();
    assert_eq!(turn.text(), said.text.as_deref(), "{place}");
    assert_eq!(turn.reasoning(), said.reasoning.as_deref(), "{place}");
    assert_eq!(turn.stop(), said.stop, "{place}");
    assert_eq!(turn.served().model, said.model, "{place}");
    let calls: Vec<(&str, &str, &str)> = turn
        .tool_calls()
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
        .collect();
    let expected: Vec<(&str, &str, &str)> = said
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.expected_arguments()))
        .collect();
    assert_eq!(calls, expected, "{place}");
    let raw: Value = serde_json::from_str(turn.raw().get()).unwrap();
    assert_eq!(raw, said.raw, "{place}");
    let is_mended = said.calls.iter().any(|call| !call.is_object());
    if !exchange.is_stream() && !is_mended {
        assert!(exchange.body.contains(turn.raw().get()), "{place}: bytes changed");
    }
    compare_usage(&place, turn, said.usage);
}

/// The laws of both `OpenAI` wires: disjoint parts add up to what was reported, and to the total.
fn compare_usage(place: &str, turn: &ModelTurn, tokens: Option<Tokens>) {
    let usage = turn.usage();
    let Some(tokens) = tokens else {
        assert_eq!(usage.source, UsageSource::Unknown, "{place}");
        return;
    };
    assert_eq!(usage.source, UsageSource::Reported, "{place}");
    assert_eq!(usage.input(), tokens.input, "{place}");
    assert_eq!(usage.output(), tokens.output, "{place}");
    assert_eq!(usage.cache_read, tokens.cache_read, "{place}");
    assert_eq!(
        usage.cache_write_5m + usage.cache_write_1h,
        tokens.cache_write,
        "{place}"
    );
    assert_eq!(usage.reasoning_output, tokens.reasoning, "{place}");
    assert_eq!(usage.tool_prompt, 0, "{place}");
    if let Some(total) = tokens.total {
        assert_eq!(usage.input() + usage.output(), total, "{place}");
    }
    match (tokens.cost, usage.vendor_cost_picodollars) {
        (None, None) => {}
        (Some(dollars), Some(picodollars)) => {
            let told = format!("{dollars:.12}").replace('.', "");
            assert_eq!(told.parse::<u64>().unwrap(), picodollars, "{place}");
        }
        (told, read) => panic!("{place}: the vendor charged {told:?}, we read {read:?}"),
    }
}

/// What a request asked for, in the spelling of both `OpenAI` wires.
pub(crate) struct Asked {
    tools: Vec<String>,
    forced: Option<ForceLevel>,
    wanted: Option<String>,
}

impl Asked {
    pub(crate) fn read(request: &Value) -> Self {
        let name = |value: &Value| {
            let name = value["name"].as_str().or(value["function"]["name"].as_str());
            name.map(str::to_owned)
        };
        let choice = &request["tool_choice"];
        let is_required = choice == "required"
            || (choice["type"] == "allowed_tools" && choice.to_string().contains(r#""mode":"required""#));
        let forced = match (is_required, name(choice)) {
            (true, _) => Some(ForceLevel::Required),
            (false, Some(_)) => Some(ForceLevel::Named),
            (false, None) => None,
        };
        Self {
            tools: items(request, "tools").iter().filter_map(name).collect(),
            forced,
            wanted: name(choice),
        }
    }

    /// The verdict of our own code.
    pub(crate) fn judge(&self, wire: Wire, exchange: &Exchange, dialect: &Dialect) -> Verdict {
        let tools: Vec<&str> = self.tools.iter().map(String::as_str).collect();
        let expected = Expected {
            tools: &tools,
            forced: self.forced,
            submission: self.wanted.as_deref(),
            self_hosted: dialect.self_hosted,
        };
        let reply = wire.decode(exchange.status, exchange.body.as_bytes(), dialect);
        Verdict::of(reply.as_ref(), &expected)
    }

    /// The outcome by the test's own reading.
    pub(crate) fn outcome(&self, said: &Said) -> &'static str {
        let is_cut = said.stop == StopReason::Length;
        let is_declined = matches!(said.stop, StopReason::Refusal | StopReason::ContentFilter);
        if said.calls.is_empty() {
            return match (is_cut || is_declined || self.forced.is_some(), &said.usage) {
                (true, _) => "model_fault",
                (false, None) => "normalised",
                (false, Some(_)) => "valid",
            };
        }
        let is_unread = |call: &Call| !call.has_empty_arguments() && !call.is_object();
        let is_unknown = |call: &Call| !self.tools.is_empty() && !self.tools.contains(&call.name);
        let last_is_cut = is_cut && said.calls.last().is_some_and(Call::has_empty_arguments);
        let is_other = self
            .wanted
            .as_ref()
            .is_some_and(|wanted| said.calls.len() != 1 || said.calls[0].name != *wanted);
        if said.calls.iter().any(|call| is_unread(call) || is_unknown(call)) || last_is_cut || is_other {
            "model_fault"
        } else if said.usage.is_none() || said.calls.iter().any(Call::has_empty_arguments) {
            "normalised"
        } else {
            "valid"
        }
    }
}

/// The outcome of a status that is no success. None of the recorded ones lost opaque state.
fn outcome_of_status(status: u16) -> &'static str {
    match status {
        429 | 500..=599 => "infra_fault",
        _ => "config_fault",
    }
}

/// Reads every exchange over `wire`, and holds what we read against `said`; tells what came of each vendor's.
pub(crate) fn compare_all(
    wire: Wire,
    exchanges: &[Exchange],
    dialect: impl Fn(&str) -> Dialect,
    said: impl Fn(&Exchange) -> Said,
) {
    assert!(!exchanges.is_empty(), "{}", wire.label());
    let mut tally = Tally::default();
    for exchange in exchanges {
        let (place, dialect) = (exchange.place(), dialect(exchange.vendor()));
        let asked = Asked::read(&exchange.request);
        let verdict = asked.judge(wire, exchange, &dialect);
        let reply = wire.decode(exchange.status, exchange.body.as_bytes(), &dialect);
        let outcome = if exchange.status == 200 {
            let said = said(exchange);
            let turn = reply.unwrap_or_else(|fault| panic!("{place}: {fault}"));
            compare(exchange, &said, &turn);
            asked.outcome(&said)
        } else {
            assert_eq!(reply.unwrap_err().status(), exchange.status, "{place}");
            outcome_of_status(exchange.status)
        };
        assert_eq!(verdict.label(), outcome, "{place}: {verdict:?}");
        let shape = if exchange.is_stream() { "stream" } else { "json" };
        tally.add(&format!(
            "{} {shape} {outcome} {}",
            exchange.vendor(),
            verdict.kinds().join(",")
        ));
    }
    tally.tell(&format!("{} replies", wire.label()));
}

/// What goes back in the place of a call's arguments that are no object; none are an empty one.
pub(crate) fn sendable(arguments: &str) -> String {
    let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
    if is_object {
        arguments.to_owned()
    } else if arguments.trim().is_empty() {
        "{}".to_owned()
    } else {
        json!({ "INVALID_JSON": arguments }).to_string()
    }
}
