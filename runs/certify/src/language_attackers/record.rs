//! What each probe came to, as it is kept in the folder of an attacker and a set of probes.

use super::guess::Guess;
use super::resolve::answer_of;
use ktd_env::Market;
use ktd_probes::{ProbeAnswer, ProbeKind};
use serde::{Deserialize, Serialize};

/// Outcome of one probe.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageAnswer {
    /// The probe's kind.
    pub kind: ProbeKind,
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// What the guess means on the panel; `None` where the probe is unanswered.
    pub answer: Option<ProbeAnswer>,
    /// The guess in the model's own words.
    pub guess: Option<Guess>,
    /// Why it is unanswered: a model's last mistake, `server_parser_leak`, or `not_asked`.
    pub reason: Option<String>,
    /// The mistakes on the way, in order.
    pub mistakes: Vec<String>,
}

/// Line of `guesses.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageAnswerLine {
    /// The probe's kind.
    pub kind: ProbeKind,
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// The guess in the model's own words; none where the probe is unanswered.
    pub guess: Option<Guess>,
    /// Why it is unanswered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The mistakes on the way, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mistakes: Vec<String>,
}

impl LanguageAnswer {
    /// A guess, with what it means on the panel.
    pub(super) fn of_guess(market: &Market, (kind, number): (ProbeKind, usize), guess: Guess) -> Self {
        Self {
            kind,
            number,
            answer: Some(answer_of(market, &guess)),
            guess: Some(guess),
            reason: None,
            mistakes: Vec::new(),
        }
    }

    /// No answer.
    pub(super) fn unanswered((kind, number): (ProbeKind, usize), reason: &str) -> Self {
        Self {
            kind,
            number,
            answer: None,
            guess: None,
            reason: Some(reason.to_owned()),
            mistakes: Vec::new(),
        }
    }

    /// The line that is kept.
    #[must_use]
    pub fn record(&self) -> LanguageAnswerLine {
        LanguageAnswerLine {
            kind: self.kind,
            number: self.number,
            guess: self.guess.clone(),
            reason: self.reason.clone(),
            mistakes: self.mistakes.clone(),
        }
    }
}
