//! A reading for people and for programs.

use super::exchange::Reading;
use ktd_agents::{ModelTurn, ReplyFault, Usage};
use schemars::JsonSchema;
use serde::Serialize;

/// A line of the file, read or not.
#[derive(Debug)]
pub struct Checked {
    /// 1-based line of the file.
    pub number: usize,
    /// Its reading, or why it is no exchange.
    pub reading: Result<Reading, String>,
}

/// Longest excerpt of a text in a line, in characters.
const EXCERPT_CHARS_MAX: usize = 60;

/// The line for people.
#[must_use]
pub fn line_of(checked: &Checked) -> String {
    let reading = match &checked.reading {
        Ok(reading) => reading,
        Err(why) => return format!("{:>5}  unreadable: {why}", checked.number),
    };
    let exchange = &reading.exchange;
    let (Some(wire), Some(verdict)) = (reading.wire, &reading.verdict) else {
        return format!(
            "{:>5}  {}: the path {} is of no known wire",
            checked.number,
            excerpt(&exchange.vendor),
            excerpt(&exchange.path)
        );
    };
    let kinds = verdict.kinds().join(", ");
    let outcome = if kinds.is_empty() {
        verdict.label().to_owned()
    } else {
        format!("{} ({kinds})", verdict.label())
    };
    let said = match &reading.reply {
        Some(Ok(turn)) => turn_line(turn),
        Some(Err(fault)) => excerpt(&fault.to_string()),
        None => String::new(),
    };
    format!(
        "{:>5}  {:<10} {:<16} {} {outcome:<28} {said}",
        checked.number,
        excerpt(&exchange.vendor),
        wire.label(),
        exchange.status
    )
}

fn turn_line(turn: &ModelTurn) -> String {
    let mut parts = vec![format!("stop={}", turn.stop().code())];
    for call in turn.tool_calls() {
        parts.push(format!("{}({})", excerpt(&call.name), excerpt(&call.arguments)));
    }
    if let Some(text) = turn.text() {
        parts.push(format!("{:?}", excerpt(text)));
    }
    let usage = turn.usage();
    parts.push(if usage.is_known() {
        format!(
            "in={} cached={} out={} reasoning={}",
            usage.input(),
            usage.cache_read,
            usage.output(),
            usage.reasoning_output
        )
    } else {
        "usage=unknown".to_owned()
    });
    parts.join("  ")
}

/// The beginning of a text, fit for a terminal: it may come from anyone.
fn excerpt(text: &str) -> String {
    let mut cut: String = text
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(EXCERPT_CHARS_MAX)
        .collect();
    if text.chars().nth(EXCERPT_CHARS_MAX).is_some() {
        cut.push('\u{2026}');
    }
    cut
}

/// An exchange for programs.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct ExchangeDocument {
    /// 1-based line of the file.
    line: usize,
    /// Why it is no exchange, or of no known wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    read: Option<ReadDocument>,
    #[serde(flatten)]
    turn: Option<TurnDocument>,
    #[serde(flatten)]
    fault: Option<FaultDocument>,
}

/// What is known of every exchange.
#[derive(Debug, JsonSchema, Serialize)]
struct ReadDocument {
    vendor: String,
    scenario: String,
    path: String,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    wire: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    kinds: Vec<&'static str>,
}

/// What a model said.
#[derive(Debug, JsonSchema, Serialize)]
struct TurnDocument {
    stop_reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    vendor_stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    tool_calls: Vec<CallDocument>,
    usage: UsageDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    served_model: Option<String>,
    normalised: Vec<String>,
}

/// A call of a tool.
#[derive(Debug, JsonSchema, Serialize)]
struct CallDocument {
    id: String,
    name: String,
    arguments: String,
}

/// Counted tokens.
#[derive(Debug, JsonSchema, Serialize)]
struct UsageDocument {
    source: &'static str,
    input: u64,
    uncached_input: u64,
    cache_read: u64,
    cache_write_5m: u64,
    cache_write_1h: u64,
    tool_prompt: u64,
    output: u64,
    visible_output: u64,
    reasoning_output: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    vendor_cost_picodollars: Option<u64>,
}

/// Why a reply says nothing.
#[derive(Debug, JsonSchema, Serialize)]
struct FaultDocument {
    detail: String,
    hint: String,
    is_retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_seconds: Option<u64>,
}

impl ExchangeDocument {
    /// The document of a line.
    #[must_use]
    pub fn of(checked: &Checked) -> Self {
        let line = checked.number;
        let reading = match &checked.reading {
            Ok(reading) => reading,
            Err(why) => {
                return Self {
                    line,
                    error: Some(why.clone()),
                    ..Self::default()
                };
            }
        };
        let (turn, fault) = match &reading.reply {
            Some(Ok(turn)) => (Some(TurnDocument::of(turn)), None),
            Some(Err(fault)) => (None, Some(FaultDocument::of(fault))),
            None => (None, None),
        };
        let unknown = reading.reply.is_none().then_some("the path is of no known wire");
        Self {
            line,
            error: unknown.map(str::to_owned),
            read: Some(ReadDocument::of(reading)),
            turn,
            fault,
        }
    }
}

impl ReadDocument {
    fn of(reading: &Reading) -> Self {
        let (exchange, verdict) = (&reading.exchange, reading.verdict.as_ref());
        Self {
            vendor: exchange.vendor.clone(),
            scenario: exchange.scenario.clone(),
            path: exchange.path.clone(),
            status: exchange.status,
            wire: reading.wire.map(ktd_agents::Wire::label),
            outcome: verdict.map(ktd_agents::Verdict::label),
            kinds: verdict.map(ktd_agents::Verdict::kinds).unwrap_or_default(),
        }
    }
}

impl TurnDocument {
    fn of(turn: &ModelTurn) -> Self {
        let calls = turn.tool_calls().iter().map(|call| CallDocument {
            id: call.id.as_str().to_owned(),
            name: call.name.clone(),
            arguments: call.arguments.as_str().to_owned(),
        });
        Self {
            stop_reason: turn.stop().code().to_owned(),
            vendor_stop_reason: turn.served().stop_reason.clone(),
            text: turn.text().map(str::to_owned),
            reasoning: turn.reasoning().map(str::to_owned),
            tool_calls: calls.collect(),
            usage: UsageDocument::of(&turn.usage()),
            served_model: turn.served().model.clone(),
            normalised: turn
                .normalised()
                .iter()
                .map(|one| one.code().to_owned())
                .collect(),
        }
    }
}

impl UsageDocument {
    fn of(usage: &Usage) -> Self {
        Self {
            source: usage.source.code(),
            input: usage.input(),
            uncached_input: usage.uncached_input,
            cache_read: usage.cache_read,
            cache_write_5m: usage.cache_write_5m,
            cache_write_1h: usage.cache_write_1h,
            tool_prompt: usage.tool_prompt,
            output: usage.output(),
            visible_output: usage.visible_output,
            reasoning_output: usage.reasoning_output,
            vendor_cost_picodollars: usage.vendor_cost_picodollars,
        }
    }
}

impl FaultDocument {
    fn of(fault: &ReplyFault) -> Self {
        Self {
            detail: fault.to_string(),
            hint: fault.hint().to_owned(),
            is_retryable: fault.is_retryable(),
            wait_seconds: fault.retry_after_seconds(),
        }
    }
}
