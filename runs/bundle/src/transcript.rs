//! A step as the model saw it: the conversation of its last request, and the reply to it; with what all steps have in
//! common folded into a line.

use crate::conversation::conversation;
use ktd_agents::{Dialect, ModelTurn, Wire};
use ktd_record::RecordError;
use ktd_record::exchanges::{Cassette, ExchangeOutcome, Sent};
use serde_json::Value;
use std::collections::BTreeMap;

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
    /// [`RecordError::Input`] when the bundle has no such step.
    pub fn of(cassette: &Cassette, step: usize) -> Result<Self, RecordError> {
        let answered: Vec<(&Sent, &ExchangeOutcome)> = cassette
            .answered()
            .filter(|sent| sent.intent.at.step == step)
            .filter_map(|sent| Some((sent, sent.answer()?)))
            .collect();
        let Some((last, outcome)) = answered.last() else {
            let steps = cassette.answered().map(|sent| sent.intent.at.step).max();
            let steps = steps.unwrap_or(0);
            let what = format!("step {step} is not recorded");
            return Err(RecordError::input(
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
}

/// Messages at the head of every step's conversation that may be the same in all: instructions, and how things are shown.
const OPENING_MESSAGES: usize = 2;
/// What is shorter is shown, however often it comes.
const LEAST_FOLDED: usize = 400;

/// The text that the conversations of all steps of an episode begin with, message by message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommonOpening(Vec<String>);

impl CommonOpening {
    /// What the recorded steps have in common; of an episode of one step, nobody knows what would change.
    #[must_use]
    pub fn of(cassette: &Cassette) -> Self {
        let last: BTreeMap<usize, &Sent> = cassette
            .answered()
            .map(|sent| (sent.intent.at.step, sent))
            .collect();
        let mut common: Option<Vec<String>> = None;
        for sent in last.values() {
            let request: Value = serde_json::from_str(&sent.intent.request).unwrap_or_default();
            let opening = conversation(&request).into_iter().take(OPENING_MESSAGES);
            let opening = opening.map(|(_, content)| content);
            common = Some(match common {
                None => opening.collect(),
                Some(common) => common
                    .iter()
                    .zip(opening)
                    .map(|(a, b)| both_begin(a, &b).to_owned())
                    .collect(),
            });
        }
        Self(common.filter(|_| 1 < last.len()).unwrap_or_default())
    }

    /// The messages without what they share with those of all other steps.
    #[must_use]
    pub fn fold(&self, messages: &[(String, String)]) -> Vec<FoldedMessage> {
        let common = self.0.iter().map(String::as_str).chain(std::iter::repeat(""));
        let messages = messages.iter().zip(common);
        messages
            .map(|((role, content), common)| {
                let characters = common.chars().count();
                let rest = content
                    .strip_prefix(common)
                    .filter(|_| LEAST_FOLDED <= characters);
                FoldedMessage {
                    role: role.clone(),
                    folded_characters: rest.map_or(0, |_| characters),
                    rest: rest.unwrap_or(content).to_owned(),
                }
            })
            .collect()
    }
}

/// A message without its constant beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedMessage {
    /// Who speaks.
    pub role: String,
    /// Characters that are left out; 0 where nothing is.
    pub folded_characters: usize,
    /// What follows them.
    pub rest: String,
}

/// What two texts begin with, up to the end of a paragraph; all of it where they are the same.
fn both_begin<'t>(one: &'t str, other: &str) -> &'t str {
    if one == other {
        return one;
    }
    let same = one.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
    let end = same.map_or(one.len().min(other.len()), |((place, _), _)| place);
    let common = one.get(..end).unwrap_or_default();
    let paragraph = common.rfind("\n\n").map_or(0, |place| place + 2);
    common.get(..paragraph).unwrap_or_default()
}

/// The reply as the model said it, whatever the wire; what is no turn is shown as it came.
fn reply(path: &str, outcome: &ExchangeOutcome) -> String {
    let turn = || {
        let reply = outcome.reply()?;
        let wire = Wire::of_path(path)?;
        wire.decode(reply.status, &reply.body, &Dialect::plain()).ok()
    };
    match (turn(), outcome) {
        (Some(turn), _) => said(&turn),
        (None, ExchangeOutcome::Reply { body: Some(body), .. }) => body.clone(),
        (None, ExchangeOutcome::Reply { status, .. }) => format!("[status {status}, no text]"),
        (None, ExchangeOutcome::Failed { code, detail, .. }) => format!("[{code}: {detail}]"),
        (None, ExchangeOutcome::Refused { .. }) => "[refused]".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_texts_share_ends_with_a_paragraph() {
        assert_eq!(
            both_begin("a\n\nb\n\nSTATE:\n1", "a\n\nb\n\nSTATE:\n2"),
            "a\n\nb\n\n"
        );
        assert_eq!(both_begin("a\n\nb", "a\n\nb"), "a\n\nb");
        assert_eq!(both_begin("a", "b"), "");
        assert_eq!(both_begin("股\n\n票", "股\n\n市"), "股\n\n");
        assert_eq!(both_begin("a\n\n", "a\n\nb"), "a\n\n");
    }

    #[test]
    fn only_long_and_common_text_is_folded() {
        let rules = "rule ".repeat(1_000);
        let shown = format!("{}\n\n", "how ".repeat(200));
        let common = CommonOpening(vec![rules.clone(), shown.clone()]);
        let message = |role: &str, content: &str| (role.to_owned(), content.to_owned());
        let messages = [
            message("system", &rules),
            message("user", &format!("{shown}STATE:\n{{}}")),
            message("reply", &rules),
        ];
        let folded = common.fold(&messages);
        let parts: Vec<(usize, &str)> = folded
            .iter()
            .map(|message| (message.folded_characters, message.rest.as_str()))
            .collect();
        assert_eq!(parts, [(5_000, ""), (802, "STATE:\n{}"), (0, rules.as_str())]);
        let short = CommonOpening(vec!["be brief".to_owned()]);
        let folded = short.fold(&[message("system", "be brief")]);
        assert_eq!(
            (folded[0].folded_characters, folded[0].rest.as_str()),
            (0, "be brief")
        );
    }
}
