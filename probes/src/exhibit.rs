//! What a probe shows.

use crate::kind::ProbeKind;
use ktd_masking::Payload;

/// Message of a step, as an agent sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeMessage {
    /// The tool that answered, or `state` for what opens a step.
    pub source: &'static str,
    /// What it answered.
    pub payload: Payload,
}

/// Stock of the exhibit whose real code is given away.
#[derive(Debug, Clone, PartialEq)]
pub struct RevealedStock {
    /// As the exhibit shows it.
    pub alias: Payload,
    /// Its real code.
    pub code: Payload,
}

/// Exhibit of one episode: what it shows of its target.
#[derive(Debug, Clone, PartialEq)]
pub struct Exhibit {
    /// The target as the exhibit shows it.
    pub target: Payload,
    /// Given away, in an anchored probe.
    pub anchor: Option<RevealedStock>,
    /// Given away besides it, where an asking agent knows several stocks.
    pub others: Vec<RevealedStock>,
    /// The as-of day of the last step, where it is given away.
    pub given_day: Option<Payload>,
    /// The messages of each step, oldest step first.
    pub steps: Vec<Vec<ProbeMessage>>,
}

/// Probe of a mask, a question: which stock is the target, and which day is the as-of day of the last step shown?
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// How much it shows.
    pub kind: ProbeKind,
    /// One exhibit; two in a linked probe, which asks whether their targets are the same stock.
    pub exhibits: Vec<Exhibit>,
}

impl Exhibit {
    /// The exhibit as one tree, which is what is saved, hashed, attacked and shown to a model.
    #[must_use]
    pub fn payload(&self) -> Payload {
        let step = |messages: &Vec<ProbeMessage>| {
            Payload::list(messages.iter().map(|message| {
                Payload::map([
                    ("source", Payload::label(message.source)),
                    ("content", message.payload.clone()),
                ])
            }))
        };
        let revealed = |stock: &RevealedStock| {
            Payload::map([("alias", stock.alias.clone()), ("code", stock.code.clone())])
        };
        let anchor = self.anchor.as_ref().map_or_else(Payload::null, revealed);
        let mut entries = vec![("target", self.target.clone()), ("given_away", anchor)];
        if !self.others.is_empty() {
            entries.push(("also_given_away", Payload::list(self.others.iter().map(revealed))));
        }
        if let Some(day) = &self.given_day {
            entries.push(("given_day", day.clone()));
        }
        entries.push(("steps", Payload::list(self.steps.iter().map(step))));
        Payload::map(entries)
    }
}

impl Probe {
    /// The probe as text: the very bytes that a file holds and an attacker reads.
    #[must_use]
    pub fn text(&self) -> ProbeText {
        let exhibits = self.exhibits.iter().map(|exhibit| exhibit.payload().to_json());
        ProbeText {
            number: self.number,
            kind: self.kind,
            exhibits: exhibits.collect(),
        }
    }
}

/// Text of a probe: what a file holds and an algorithmic attacker reads, whoever made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeText {
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// How much it shows.
    pub kind: ProbeKind,
    /// JSON text of each exhibit, as [`Exhibit::payload`] shapes it.
    pub exhibits: Vec<String>,
}
