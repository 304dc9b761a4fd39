//! What the meter finds of texts in which it is known what is named: recall by kind, and false alarms.
//!
//! The texts are `planted.txt`, written apart from the lists and patterns as models write, a kind and a text a line. What is
//! named stands in `«»`; texts of the kinds `clean`, `look-alike` and `denial` name nothing.

use super::category::Category;
use super::lexicon::Lexicon;
use crate::ReasonsError;
use ktd_stats::{Confidence, wilson};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// The planted texts.
const PLANTED: &str = include_str!("../planted.txt");
/// Kinds of texts that name nothing: prose of a trader who sees numbers alone, words in another sense, words denied.
const INNOCENT: [&str; 3] = ["clean", "look-alike", "denial"];

/// Planted texts against what was found of them.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Detection {
    /// Of each kind of words, how many that were named were found.
    pub recall: Vec<DetectionRow>,
    /// Of each kind of texts that name nothing, in how many something was found.
    pub false_alarms: Vec<DetectionRow>,
}

/// One kind of planted words or texts.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct DetectionRow {
    /// The kind.
    pub kind: String,
    /// How many were planted.
    pub planted: u64,
    /// How many of them were found.
    pub found: u64,
    /// Wilson's 95 % interval of the share.
    pub interval: Option<(f64, f64)>,
}

/// A planted text: its kind, itself, and the bytes of what it names.
struct PlantedText {
    kind: &'static str,
    text: String,
    named: Vec<Range<usize>>,
}

impl Detection {
    /// What a lexicon finds of the planted texts. A word is found where a hit of its own kind overlaps it.
    ///
    /// # Errors
    /// [`ReasonsError::Input`] for counts that no share has.
    pub fn of(lexicon: &Lexicon) -> Result<Self, ReasonsError> {
        let planted: Vec<PlantedText> = planted_texts();
        let of_kind = |kind: &'static str| planted.iter().filter(move |text| text.kind == kind);
        let recall = Category::ALL.map(|category| {
            let kind = category.label();
            let found = of_kind(kind).flat_map(|text| {
                let hits = lexicon.find(&text.text);
                let is_found = move |part: &Range<usize>| {
                    let overlaps = |bytes: &Range<usize>| bytes.start < part.end && part.start < bytes.end;
                    hits.iter()
                        .any(|hit| hit.category == category && overlaps(&hit.bytes))
                };
                text.named.iter().map(is_found).collect::<Vec<_>>()
            });
            DetectionRow::of(kind, found)
        });
        let false_alarms = INNOCENT.map(|kind| {
            let found = of_kind(kind).map(|text| !lexicon.find(&text.text).is_empty());
            DetectionRow::of(kind, found)
        });
        Ok(Self {
            recall: recall.into_iter().collect::<Result<_, _>>()?,
            false_alarms: false_alarms.into_iter().collect::<Result<_, _>>()?,
        })
    }
}

impl DetectionRow {
    fn of(kind: &str, found: impl Iterator<Item = bool>) -> Result<Self, ReasonsError> {
        let (mut planted, mut count) = (0, 0);
        for is_found in found {
            planted += 1;
            count += u64::from(is_found);
        }
        let interval = wilson(count, planted, Confidence::P95)
            .map_err(|error| ReasonsError::input(error.to_string(), "report this defect"))?;
        Ok(Self {
            kind: kind.to_owned(),
            planted,
            found: count,
            interval: interval.map(|interval| (interval.lower, interval.upper)),
        })
    }
}

fn planted_texts() -> Vec<PlantedText> {
    let lines = PLANTED.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let (kind, marked) = line.split_once(": ")?;
            let (mut text, mut named) = (String::new(), Vec::new());
            for (place, part) in marked.split(['«', '»']).enumerate() {
                let start = text.len();
                text.push_str(part);
                if place % 2 == 1 {
                    named.push(start..text.len());
                }
            }
            Some(PlantedText { kind, text, named })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::Lists;
    use super::*;

    #[test]
    fn every_planted_text_is_of_a_kind_and_marks_what_it_names() {
        let kinds = Category::ALL.map(Category::label);
        for planted in planted_texts() {
            let is_innocent = INNOCENT.contains(&planted.kind);
            assert!(
                is_innocent || kinds.contains(&planted.kind),
                "{}: {}",
                planted.kind,
                planted.text
            );
            assert_eq!(planted.named.is_empty(), is_innocent, "{}", planted.text);
        }
        let lines = PLANTED.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(planted_texts().len(), lines, "a line lacks its kind");
    }

    /// What is named and what is found of a text that the meter errs on.
    fn error(lexicon: &Lexicon, planted: &PlantedText) -> Option<String> {
        let hits = lexicon.find(&planted.text).into_iter();
        let hits: Vec<String> = hits
            .map(|hit| format!("{} {}", hit.category.label(), &planted.text[hit.bytes]))
            .collect();
        let is_right = if planted.named.is_empty() {
            hits.is_empty()
        } else {
            hits.iter().any(|hit| hit.starts_with(planted.kind))
        };
        (!is_right).then(|| format!("{}: {}: {hits:?}", planted.kind, planted.text))
    }

    /// The bounds are wider than what was found of texts that were written after the lists (docs/reasons.md).
    #[test]
    fn most_of_what_is_named_is_found_and_next_to_nothing_else() {
        let lexicon = Lists::read(None).unwrap().on(None).unwrap();
        let found = Detection::of(&lexicon).unwrap();
        let errors: Vec<String> = planted_texts()
            .iter()
            .filter_map(|text| error(&lexicon, text))
            .collect();
        for row in &found.recall {
            assert!(
                20 <= row.planted && 5 * row.found >= 4 * row.planted,
                "{row:?}\n{}",
                errors.join("\n")
            );
        }
        for (row, percent) in found.false_alarms.iter().zip([1, 3, 5]) {
            assert!(
                100 * row.found <= percent * row.planted,
                "{row:?}\n{}",
                errors.join("\n")
            );
        }
    }
}
