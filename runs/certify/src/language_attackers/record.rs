//! What each probe came to, as it is kept in the folder of an attacker and a set of probes.

use super::guess::Guess;
use super::resolve::answer_of;
use ktd_env::Market;
use ktd_probes::{ProbeAnswer, ProbeKind};
use serde::{Deserialize, Serialize};

/// Outcome of one probe, a line of `guesses.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageAnswer {
    /// The probe's kind.
    pub kind: ProbeKind,
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// The guess in the model's own words; none where the probe is unanswered.
    pub guess: Option<Guess>,
    /// Why it is unanswered: a model's last mistake, `server_parser_leak`, or `not_asked`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The mistakes on the way, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mistakes: Vec<String>,
}

impl LanguageAnswer {
    /// A guess, or why there is none.
    pub(super) fn of((kind, number): (ProbeKind, usize), guess: Result<Guess, &str>) -> Self {
        let (guess, reason) = match guess {
            Ok(guess) => (Some(guess), None),
            Err(reason) => (None, Some(reason.to_owned())),
        };
        Self {
            kind,
            number,
            guess,
            reason,
            mistakes: Vec::new(),
        }
    }

    /// What the guess means on a panel; none where the probe is unanswered.
    #[must_use]
    pub fn answer(&self, market: &Market) -> Option<ProbeAnswer> {
        self.guess.as_ref().map(|guess| answer_of(market, guess))
    }
}
