//! A model that answers from a table: what it says to each probe, try after try.

use futures::future::BoxFuture;
use ktd_agents::{Transport, TransportError, WireReply, WireRequest};
use ktd_probes::Probe;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What comes back for one request.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    /// A call of `submit_action` with these arguments.
    Call(String),
    Text(String),
    /// The provider's filter.
    Filtered,
    Status(u16),
    UnansweredCount,
}

impl Say {
    pub(crate) fn stock(stocks: &[&str], date: &str) -> Self {
        Self::Call(json!({"stocks": stocks, "date": date, "confidence": 0.7}).to_string())
    }

    fn reply(&self) -> Result<WireReply, TransportError> {
        let (message, reason) = match self {
            Self::Call(arguments) => (
                json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "submit_action", "arguments": arguments}}
                ]}),
                "tool_calls",
            ),
            Self::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
            Self::Filtered => (json!({"role": "assistant", "content": "no"}), "content_filter"),
            Self::Status(status) => return Ok(WireReply::new(*status, b"{}".to_vec())),
            Self::UnansweredCount => return Err(TransportError::Timeout),
        };
        let usage = json!({"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010});
        let body = json!({"choices": [{"message": message, "finish_reason": reason}], "usage": usage});
        Ok(WireReply::new(200, body.to_string().into_bytes()))
    }
}

/// The table, and all that was asked.
#[derive(Default)]
pub(crate) struct Script {
    /// By the text of the first exhibit.
    says: BTreeMap<String, Vec<Say>>,
    asked: Mutex<Vec<(String, Value)>>,
}

impl Script {
    pub(crate) fn new<'p>(says: impl IntoIterator<Item = (&'p Probe, Vec<Say>)>) -> Self {
        let says = says.into_iter();
        Self {
            says: says
                .map(|(probe, says)| (probe.text().exhibits[0].clone(), says))
                .collect(),
            asked: Mutex::default(),
        }
    }

    /// All requests, in the order they came.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(_, request)| request.clone()).collect()
    }

    /// The requests about one probe.
    pub(crate) fn requests_about(&self, probe: &Probe) -> Vec<Value> {
        let exhibit = probe.text().exhibits[0].clone();
        let asked = self.asked.lock().unwrap();
        let own = asked.iter().filter(|(about, _)| *about == exhibit);
        own.map(|(_, request)| request.clone()).collect()
    }
}

impl Transport for Script {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        let request: Value = serde_json::from_slice(request.body()).unwrap();
        let question = request["messages"][1]["content"].as_str().unwrap().to_owned();
        let (exhibit, says) = self
            .says
            .iter()
            .find(|(exhibit, _)| question.contains(*exhibit))
            .unwrap();
        // The model has no memory: how often it has spoken stands in the conversation. What fails is told once.
        let spoken = request["messages"].as_array().unwrap().iter();
        let spoken = spoken.filter(|message| message["role"] == "assistant").count();
        let mut asked = self.asked.lock().unwrap();
        let resent = asked.iter().filter(|(_, earlier)| *earlier == request).count();
        asked.push((exhibit.clone(), request));
        let say = says.get(spoken + resent).or(says.last()).unwrap();
        Box::pin(std::future::ready(say.reply()))
    }
}
