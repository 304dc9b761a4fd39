//! Identifiers that the harness showed in a step: a word that is repeated is no memory.

use super::candidate::MatchKind;
use super::lexicon::WordMatch;
use ktd_bundle::conversation::conversation;
use ktd_guard::{Folded, key, six_digits};
use ktd_record::RecordError;
use ktd_record::exchanges::{ExchangeRecord, Intent, each_exchange};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The roles whose words are the model's own.
const OWN_ROLES: [&str; 2] = ["assistant", "model"];

/// Identifiers shown in one step.
#[derive(Debug)]
pub(super) struct ShownIdentifiers {
    text: Folded,
    codes: BTreeSet<String>,
    days: BTreeSet<(u32, u32, u32)>,
    numbers: Vec<f64>,
}

impl ShownIdentifiers {
    /// What was shown in some steps of the exchanges at `path`: the last answered request of a step holds all of it.
    pub(super) fn of_steps(
        path: &Path,
        steps: &BTreeSet<usize>,
    ) -> Result<BTreeMap<usize, Self>, RecordError> {
        let (mut told, mut asked): (BTreeMap<usize, Self>, Option<Intent>) = (BTreeMap::new(), None);
        let mut answered: Option<Intent> = None;
        let mut tell = |intent: Option<Intent>| {
            told.extend(intent.map(|intent| (intent.at.step, Self::of(&intent.request))));
        };
        each_exchange(path, |exchange| {
            match exchange {
                ExchangeRecord::Intent { intent, .. } => {
                    asked = steps.contains(&intent.at.step).then(|| intent.clone());
                    if answered
                        .as_ref()
                        .is_some_and(|last| last.at.step != intent.at.step)
                    {
                        tell(answered.take());
                    }
                }
                ExchangeRecord::Outcome { outcome, .. } if outcome.is_answer() && asked.is_some() => {
                    answered = asked.take();
                }
                ExchangeRecord::Outcome { .. } | ExchangeRecord::Unknown { .. } => {}
            }
            Ok(())
        })?;
        tell(answered);
        Ok(told)
    }

    fn of(request: &str) -> Self {
        let request: Value = serde_json::from_str(request).unwrap_or_default();
        let words = conversation(&request)
            .into_iter()
            .filter(|(role, _)| !OWN_ROLES.contains(&role.as_str()))
            .map(|(_, text)| text);
        let text = Folded::of(&words.collect::<Vec<_>>().join("\n"));
        Self {
            codes: six_digits(text.lower()).map(str::to_owned).collect(),
            days: days_in(text.lower()),
            numbers: numbers_in(text.lower()),
            text,
        }
    }

    /// Whether the model repeats what it was shown: a code, a day of the period, a level but for rounding, or the
    /// whole word or phrase for a sector, an index or a market.
    pub(super) fn has(&self, found: &WordMatch, word: &str) -> bool {
        match &found.kind {
            MatchKind::Code(digits) => self.codes.contains(digits),
            MatchKind::Date(period) => self.days.iter().any(|day| period.has(*day)),
            MatchKind::Level(points) => points.is_some_and(|points| self.has_level(points)),
            MatchKind::Word => found.may_be_told() && self.has_word(&key(word)),
        }
    }

    /// Whether a word stands in what was shown as a whole: `EV` is in no `level`.
    fn has_word(&self, word: &str) -> bool {
        let mut places = self.text.lower().match_indices(word);
        places.any(|(start, part)| self.text.is_whole(&(start..start + part.len())))
    }

    /// Whether a number that was shown lies within half a percent of a level: models round.
    fn has_level(&self, points: f64) -> bool {
        const ROUNDING: f64 = 0.005;
        self.numbers
            .iter()
            .any(|shown| (shown - points).abs() <= ROUNDING * points)
    }
}

/// All numbers of a text.
fn numbers_in(text: &str) -> Vec<f64> {
    let parts = text.split(|character: char| !(character.is_ascii_digit() || character == '.'));
    parts
        .filter_map(|part| part.trim_matches('.').parse().ok())
        .collect()
}

/// Days in the one spelling of the harness, `2024-03-15`.
fn days_in(text: &str) -> BTreeSet<(u32, u32, u32)> {
    let day = |(at, _): (usize, &str)| {
        let mut parts = text
            .get(at.checked_sub(4)?..at + 6)?
            .split('-')
            .map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??, parts.next()??))
    };
    text.match_indices('-').filter_map(day).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::Lists;
    use super::*;

    #[test]
    fn only_the_harness_tells() {
        let request = r#"{"messages":[{"role":"system","content":"such as SH600000"},
            {"role":"user","content":"STATE: {\"day\":\"2024-03-15\",\"sector\":\"Energy\",\"x\":1234567,\"as_of\":\"day_-1\"}"},
            {"role":"assistant","content":"SH600519 in coal on 2024-04-01"}]}"#;
        let told = ShownIdentifiers::of(request);
        assert_eq!(told.days, [(2024, 3, 15)].into());
        assert_eq!(told.codes, ["600000".to_owned()].into());
        let lexicon = Lists::read(None).unwrap().on(None).unwrap();
        let text = "SH600000, SH600519, 15 March 2024, Q1 2024, 2024-04-01, energy, coal, Moutai";
        let told: Vec<(&str, bool)> = lexicon
            .find(text)
            .iter()
            .map(|found| {
                (
                    &text[found.bytes.clone()],
                    told.has(found, &text[found.bytes.clone()]),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("SH600000", true),
                ("SH600519", false),
                ("15 March 2024", true),
                ("Q1 2024", true),
                ("2024-04-01", false),
                ("energy", true),
                ("coal", false),
                ("Moutai", false)
            ]
        );
    }

    #[test]
    fn a_word_inside_a_word_was_not_shown_and_a_rounded_level_was() {
        let request = r#"{"messages":[{"role":"user","content":"level of retail: {\"index\":\"SH000300\",\"close\":3312.4}"}]}"#;
        let told = ShownIdentifiers::of(request);
        let lexicon = Lists::read(None).unwrap().on(None).unwrap();
        let text = "EV, AI, retail, SH000300, the index near 3300, the index near 3900";
        let told: Vec<bool> = lexicon
            .find(text)
            .iter()
            .map(|found| told.has(found, &text[found.bytes.clone()]))
            .collect();
        assert_eq!(told, [false, false, true, true, true, false]);
    }

    #[test]
    fn nothing_recorded_tells_nothing() {
        assert!(
            ShownIdentifiers::of("").text.plain().is_empty() && ShownIdentifiers::of("{").days.is_empty()
        );
    }
}
