//! A step as the model saw it: the conversation of its last request, and the reply to it.

use crate::bundle::exchanges::{Cassette, Outcome, Sent};
use crate::bundle::open::OpenBundle;
use crate::error::RunError;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The conversation of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// 1-based step.
    pub step: usize,
    /// Messages, oldest first: role and text.
    pub messages: Vec<(String, String)>,
    /// Answered requests of the step, attempts included.
    pub requests: usize,
    /// Requests that were to be sent and of which nobody knows whether they were answered.
    pub unknown: usize,
}

impl Transcript {
    /// The conversation of a step, from the recorded exchanges.
    ///
    /// # Errors
    /// [`RunError::Input`] when the bundle has no such step.
    pub fn of(cassette: &Cassette, step: usize) -> Result<Self, RunError> {
        let answered: Vec<(&Sent, &Outcome)> = cassette
            .answered()
            .filter(|sent| sent.intent.at.step == step)
            .filter_map(|sent| Some((sent, sent.answer()?)))
            .collect();
        let Some((last, outcome)) = answered.last() else {
            let steps = cassette.answered().map(|sent| sent.intent.at.step).max();
            let steps = steps.unwrap_or(0);
            let what = format!("step {step} is not recorded");
            return Err(RunError::input(
                what,
                format!("the bundle has the steps 1 to {steps}"),
            ));
        };
        let request: Value = serde_json::from_str(&last.intent.request).unwrap_or_default();
        let messages = request
            .get("messages")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let mut messages: Vec<(String, String)> = messages.iter().map(message).collect();
        messages.push(("reply".to_owned(), reply(outcome)));
        Ok(Self {
            step,
            messages,
            requests: answered.len(),
            unknown: cassette
                .unknown()
                .filter(|sent| sent.intent.at.step == step)
                .count(),
        })
    }

    /// The conversation as text for people.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = format!("step {}, {} requests", self.step, self.requests);
        if 0 < self.unknown {
            // Writing to a string cannot fail.
            write!(text, ", {} more with unknown outcome", self.unknown).ok();
        }
        text.push('\n');
        for (role, content) in &self.messages {
            // Writing to a string cannot fail.
            write!(text, "\n--- {role} ---\n{content}\n").ok();
        }
        text
    }
}

fn message(message: &Value) -> (String, String) {
    let text = |key: &str| {
        message
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut content = text("content");
    for call in message
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let function = |key: &str| {
            call.pointer(&format!("/function/{key}"))
                .and_then(Value::as_str)
                .unwrap_or("?")
        };
        // Writing to a string cannot fail.
        write!(
            content,
            "\n[calls {} {}]",
            function("name"),
            function("arguments")
        )
        .ok();
    }
    (text("role"), content.trim_start().to_owned())
}

fn reply(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Reply { body: Some(body), .. } => serde_json::from_str::<Value>(body)
            .ok()
            .and_then(|reply| reply.pointer("/choices/0/message").map(message))
            .map_or_else(|| body.clone(), |(_, content)| content),
        Outcome::Reply { status, .. } => format!("[status {status}, no text]"),
        Outcome::Failed { code, detail, .. } => format!("[{code}: {detail}]"),
        Outcome::Refused { .. } => "[refused]".to_owned(),
    }
}

/// What the masked names and days of a bundle really are, for the owner of its key: alias to code.
#[must_use]
pub fn real_names(bundle: &OpenBundle, text: &str) -> BTreeMap<String, String> {
    let input = bundle.input();
    let Some(mask) = crate::episode::mask_of(&input) else {
        return BTreeMap::new();
    };
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    words
        .filter_map(|word| {
            let name = mask.resolve(word).ok()?;
            let info = bundle.shared.market.name(name)?;
            let company = info
                .company_names
                .first()
                .map(|name| format!(" {name}"))
                .unwrap_or_default();
            Some((word.to_owned(), format!("{}{company}", info.ticker.reveal())))
        })
        .collect()
}
