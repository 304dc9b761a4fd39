//! A step as the model saw it: the conversation of its last request, and the reply to it; with what all steps have in
//! common folded into a line.

use crate::conversation::conversation;
use ktd_agents::{Dialect, ModelTurn, Wire};
use ktd_record::RecordError;
use ktd_record::exchanges::{ExchangeOutcome, ExchangeRecord, Intent, each_exchange};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

/// The conversation of one step.
#[derive(Debug, Clone, Default, PartialEq)]
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

/// The last answered request of a step that is being read, and how many there were.
#[derive(Debug, Default)]
struct LastAnswer {
    step: usize,
    /// The request that was to be sent last.
    asked: Option<Intent>,
    /// The last one that was answered, with what came back.
    answered: Option<(Intent, ExchangeOutcome)>,
    requests: usize,
    unknown: usize,
}

/// Conversations of an episode, read in one pass: those of some steps, and what all have in common.
#[derive(Debug, Default)]
pub struct Transcripts {
    /// Those that were wanted and answered, by step.
    pub steps: BTreeMap<usize, Transcript>,
    /// What the conversations of all steps begin with.
    pub common: CommonOpening,
}

impl Transcripts {
    /// The conversations of these steps of the exchanges at `path`.
    ///
    /// # Errors
    /// As [`each_exchange`].
    pub fn read(path: &Path, wanted: &RangeInclusive<usize>) -> Result<Self, RecordError> {
        let (mut read, mut openings) = (Self::default(), Openings::default());
        let mut last = LastAnswer::default();
        let mut close = |last: LastAnswer| {
            let Some((intent, outcome)) = &last.answered else {
                return;
            };
            let request: Value = serde_json::from_str(&intent.request).unwrap_or_default();
            let mut messages = conversation(&request);
            openings.add(&messages);
            if wanted.contains(&last.step) {
                messages.push(("reply".to_owned(), reply(&intent.path, outcome)));
                let transcript = Transcript {
                    step: last.step,
                    messages,
                    requests: last.requests,
                    unknown: last.unknown,
                };
                read.steps.insert(last.step, transcript);
            }
        };
        each_exchange(path, |exchange| {
            let step = exchange.at().step;
            if step != last.step {
                let step = LastAnswer {
                    step,
                    ..LastAnswer::default()
                };
                close(std::mem::replace(&mut last, step));
            }
            last.add(exchange);
            Ok(())
        })?;
        close(last);
        read.common = openings.common();
        Ok(read)
    }
}

impl LastAnswer {
    fn add(&mut self, exchange: ExchangeRecord<'_>) {
        match exchange {
            ExchangeRecord::Intent { intent, .. } => self.asked = Some(intent.clone()),
            ExchangeRecord::Outcome { outcome, .. } if outcome.is_answer() => {
                self.requests += 1;
                self.answered = self.asked.take().map(|asked| (asked, outcome.clone()));
            }
            ExchangeRecord::Outcome { .. } => {}
            ExchangeRecord::Unknown { .. } => self.unknown += 1,
        }
    }
}

/// Messages at the head of every step's conversation that may be the same in all: instructions, and how things are shown.
const OPENING_MESSAGES: usize = 2;
/// What is shorter is shown, however often it comes.
const LEAST_FOLDED: usize = 400;

/// The text that the conversations of all steps of an episode begin with, message by message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommonOpening(Vec<String>);

/// The openings of steps that were read so far.
#[derive(Debug, Default)]
struct Openings {
    steps: usize,
    common: Vec<String>,
}

impl Openings {
    fn add(&mut self, messages: &[(String, String)]) {
        let opening = messages.iter().take(OPENING_MESSAGES).map(|(_, content)| content);
        self.common = if self.steps == 0 {
            opening.cloned().collect()
        } else {
            let both = self.common.iter().zip(opening);
            both.map(|(a, b)| both_begin(a, b).to_owned()).collect()
        };
        self.steps += 1;
    }

    /// What they have in common; of an episode of one step, nobody knows what would change.
    fn common(self) -> CommonOpening {
        CommonOpening(if 1 < self.steps { self.common } else { Vec::new() })
    }
}

impl CommonOpening {
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
