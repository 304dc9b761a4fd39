//! A step as the model saw it: the conversation of its last request, and the reply to it.

use crate::EpisodeError;
use crate::open_bundle::OpenBundle;
use ktd_agents::{Dialect, ModelTurn};
use ktd_bundle::conversation::conversation;
use ktd_bundle::exchanges::{Cassette, Outcome, Sent};
use ktd_client::wire_check::wire_of;
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
    /// [`EpisodeError::Input`] when the bundle has no such step.
    pub fn of(cassette: &Cassette, step: usize) -> Result<Self, EpisodeError> {
        let answered: Vec<(&Sent, &Outcome)> = cassette
            .answered()
            .filter(|sent| sent.intent.at.step == step)
            .filter_map(|sent| Some((sent, sent.answer()?)))
            .collect();
        let Some((last, outcome)) = answered.last() else {
            let steps = cassette.answered().map(|sent| sent.intent.at.step).max();
            let steps = steps.unwrap_or(0);
            let what = format!("step {step} is not recorded");
            return Err(EpisodeError::input(
                what,
                format!("the bundle has the steps 1 to {steps}"),
            ));
        };
        let request: Value = serde_json::from_str(&last.intent.request).unwrap_or_default();
        let mut messages = conversation(&request);
        messages.push(("reply".to_owned(), reply(&last.intent.path, outcome)));
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

/// The reply as the model said it, whatever the wire; what is no turn is shown as it came.
fn reply(path: &str, outcome: &Outcome) -> String {
    let turn = || {
        let reply = outcome.reply()?;
        let wire = wire_of(path)?;
        wire.decode(reply.status, &reply.body, &Dialect::plain()).ok()
    };
    match (turn(), outcome) {
        (Some(turn), _) => said(&turn),
        (None, Outcome::Reply { body: Some(body), .. }) => body.clone(),
        (None, Outcome::Reply { status, .. }) => format!("[status {status}, no text]"),
        (None, Outcome::Failed { code, detail, .. }) => format!("[{code}: {detail}]"),
        (None, Outcome::Refused { .. }) => "[refused]".to_owned(),
    }
}

fn said(turn: &ModelTurn) -> String {
    let thought = turn.reasoning().map(|text| format!("[thinks: {text}]"));
    let calls = turn
        .tool_calls()
        .iter()
        .map(|call| format!("[calls {} {}]", call.name, call.arguments));
    let text = turn.text().map(str::to_owned);
    thought
        .into_iter()
        .chain(text)
        .chain(calls)
        .collect::<Vec<_>>()
        .join("\n")
}

/// What the masked names and days of a bundle really are, for the owner of its key: alias to code.
#[must_use]
pub fn real_names(bundle: &OpenBundle, text: &str) -> BTreeMap<String, String> {
    let input = bundle.input();
    let Some(mask) = crate::mask_of(&input) else {
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
