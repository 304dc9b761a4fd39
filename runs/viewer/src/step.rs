//! A step as a conversation: what was sent, what came back, and what the model called, in order.

use crate::ViewerError;
use ktd_agents::{Dialect, ModelTurn, Wire};
use ktd_bundle::conversation::{AnsweredCall, conversation, tool_answers};
use ktd_record::exchanges::{ExchangeOutcome, RequestPlace, Sent};
use ktd_record::tariff::{Charge, Tariff};
use serde_json::Value;
use std::collections::BTreeMap;

/// One request of a step with what came back.
#[derive(Debug, Clone)]
pub struct StepExchange {
    /// Which request.
    pub at: RequestPlace,
    /// Messages that the request before it did not hold, oldest first: role and text. Replies of the model and answers of
    /// tools stand elsewhere.
    pub messages: Vec<(String, String)>,
    /// What came back, read.
    pub reply: ReadReply,
    /// Tools called, with their answers where a later request holds them.
    pub calls: Vec<ToolUse>,
    /// The request as it was sent.
    pub request: String,
    /// The reply as it came.
    pub response: String,
    /// Status and headers of the reply.
    pub status: Option<u16>,
    /// Headers that were kept.
    pub headers: BTreeMap<String, String>,
    /// What it cost.
    pub cost: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadReply {
    /// A turn of the model.
    Turn {
        /// What it thought, where the vendor gives it.
        thought: Option<String>,
        /// What it wrote.
        text: Option<String>,
        /// Why it stopped, in the vendor's word.
        stop: Option<String>,
        /// Tokens of request and reply.
        tokens: (u64, u64),
    },
    /// No complete reply, or none that can be read.
    Fault(String),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// The tool, as the model named it.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
    /// The answer; `None` where no request holds it.
    pub answer: Option<String>,
}

impl StepExchange {
    /// The exchanges of a step.
    ///
    /// # Errors
    /// [`ViewerError`] when a request is not JSON.
    pub fn all(sends: &[Sent], tariff: &Tariff) -> Result<Vec<Self>, ViewerError> {
        let mut exchanges: Vec<Self> = Vec::new();
        let mut calls_open: Vec<(usize, usize, String)> = Vec::new();
        let (mut known, mut answers_known) = (0, 0);
        for sent in sends {
            let request: Value = serde_json::from_str(&sent.intent.request).map_err(|error| {
                ViewerError::invalid(format_args!("{}: no JSON: {error}", sent.intent.at))
            })?;
            let answers = tool_answers(&request);
            for answer in answers.iter().skip(answers_known) {
                let place = calls_open
                    .iter()
                    .position(|(_, _, id)| answer.call.as_ref() == Some(id));
                let place = place.or_else(|| answer.call.is_none().then_some(0));
                let Some(place) = place.filter(|place| *place < calls_open.len()) else {
                    continue;
                };
                let (exchange, call, _) = calls_open.remove(place);
                if let Some(call) = exchanges
                    .get_mut(exchange)
                    .and_then(|one| one.calls.get_mut(call))
                {
                    call.answer = Some(answer.text.clone());
                }
            }
            answers_known = answers_known.max(answers.len());
            let messages = conversation(&request);
            let new = messages.iter().skip(known);
            // On some wires what a tool answered is a message of the user's.
            let is_answer = |text: &str| is_answers(text, &answers);
            let shown = |(role, text): &&(String, String)| {
                !matches!(role.as_str(), "assistant" | "model" | "tool") && !is_answer(text)
            };
            let new: Vec<(String, String)> = new.filter(shown).cloned().collect();
            known = known.max(messages.len());
            let (exchange, ids) = Self::of(sent, new, tariff);
            let place = exchanges.len();
            calls_open.extend(ids.into_iter().enumerate().map(|(call, id)| (place, call, id)));
            exchanges.push(exchange);
        }
        Ok(exchanges)
    }

    fn of(sent: &Sent, messages: Vec<(String, String)>, tariff: &Tariff) -> (Self, Vec<String>) {
        let turn = turn_of(sent);
        let (calls, ids) = turn.as_ref().map(calls_of).unwrap_or_default();
        let (response, status, headers) = match &sent.outcome {
            Some(ExchangeOutcome::Reply {
                status,
                headers,
                body,
                body_hex,
            }) => {
                let body = body.clone().or_else(|| body_hex.clone()).unwrap_or_default();
                (body, Some(*status), headers.clone())
            }
            Some(ExchangeOutcome::Failed { code, detail, .. }) => {
                (format!("{code}: {detail}"), None, BTreeMap::new())
            }
            Some(ExchangeOutcome::Refused { status }) => (String::new(), *status, BTreeMap::new()),
            None => (String::new(), None, BTreeMap::new()),
        };
        let exchange = Self {
            at: sent.intent.at,
            messages,
            reply: turn.map_or_else(|| ReadReply::Fault(fault_of(sent)), |turn| read(&turn)),
            calls,
            request: sent.intent.request.clone(),
            response,
            status,
            headers,
            cost: cost(&tariff.charge_of(sent)),
        };
        (exchange, ids)
    }
}

/// Whether a message is what tools answered: one answer, or several after each other, as wires pack those of parallel calls.
fn is_answers(text: &str, answers: &[AnsweredCall]) -> bool {
    let mut rest = text.trim();
    let mut has_any = false;
    'answers: while !rest.is_empty() {
        for answer in answers {
            let own = answer.text.trim();
            let after = if own.is_empty() {
                None
            } else {
                rest.strip_prefix(own)
            };
            if let Some(after) = after.filter(|after| after.is_empty() || after.starts_with('\n')) {
                (rest, has_any) = (after.trim_start(), true);
                continue 'answers;
            }
        }
        return false;
    }
    has_any
}

fn turn_of(sent: &Sent) -> Option<ModelTurn> {
    let reply = sent.answer()?.reply()?;
    let wire = Wire::of_path(&sent.intent.path)?;
    wire.decode(reply.status, &reply.body, &Dialect::plain()).ok()
}

fn calls_of(turn: &ModelTurn) -> (Vec<ToolUse>, Vec<String>) {
    let calls = turn.tool_calls().iter().map(|call| {
        let tool = ToolUse {
            name: call.name.clone(),
            arguments: call.arguments.to_string(),
            answer: None,
        };
        (tool, call.id.as_str().to_owned())
    });
    calls.unzip()
}

fn read(turn: &ModelTurn) -> ReadReply {
    let usage = turn.usage();
    ReadReply::Turn {
        thought: turn.reasoning().map(str::to_owned),
        text: turn.text().map(str::to_owned),
        stop: turn.served().stop_reason.clone(),
        tokens: (usage.input(), usage.output()),
    }
}

fn fault_of(sent: &Sent) -> String {
    match &sent.outcome {
        None => {
            "nobody knows whether it was answered: the program ended before a reply was recorded".to_owned()
        }
        Some(ExchangeOutcome::Failed { code, detail, .. }) => format!("{code}: {detail}"),
        Some(ExchangeOutcome::Refused { status: Some(status) }) => {
            format!("refused with status {status}; nothing was charged")
        }
        Some(ExchangeOutcome::Refused { status: None }) => "refused before it was sent".to_owned(),
        Some(ExchangeOutcome::Reply { status, .. }) => {
            format!("status {status}: the reply is no turn of a model; it stands below as it came")
        }
    }
}

fn cost(charge: &Charge) -> String {
    match charge {
        Charge::Nothing => "nothing".to_owned(),
        Charge::Used {
            cost: Some(priced), ..
        } if priced.is_estimated => format!("about {}", priced.amount),
        Charge::Used {
            cost: Some(priced), ..
        } => priced.amount.to_string(),
        Charge::Used { cost: None, .. } => "unknown price".to_owned(),
        Charge::Incomplete { most: Some(most) } => {
            format!("at most {most}: the reply has no token counts")
        }
        Charge::Unknown { most: Some(most) } => {
            format!("at most {most}: nobody knows whether it was answered")
        }
        Charge::Incomplete { most: None } | Charge::Unknown { most: None } => "unknown".to_owned(),
    }
}
