//! Words in what was shown, thought, called and answered in an episode.

use crate::ViewerError;
use crate::episode::Episode;
use crate::step::{ReadReply, StepExchange};
use regex::{Match, RegexBuilder};

/// Hits that are listed.
pub(crate) const HITS_MAX: usize = 300;
/// Characters on each side of a hit.
const CONTEXT: usize = 90;

/// A place where the words stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// 1-based step.
    pub step: usize,
    /// Where in the step.
    pub place: String,
    /// What stands before, the words as they stand there, and what follows.
    pub context: [String; 3],
}

/// All texts of an episode that a search looks through, read once: to look through them again takes milliseconds.
#[derive(Debug, Default)]
pub struct SearchIndex {
    passages: Vec<Passage>,
}

/// A text of a step.
#[derive(Debug)]
struct Passage {
    step: usize,
    place: String,
    text: String,
}

impl SearchIndex {
    /// The texts of an episode, in order; `exchanges` gives those of a step.
    ///
    /// # Errors
    /// Those of `exchanges`.
    pub fn of(
        episode: &Episode,
        exchanges: impl Fn(usize) -> Result<Vec<StepExchange>, ViewerError>,
    ) -> Result<Self, ViewerError> {
        let mut index = Self::default();
        for step in &episode.steps {
            let number = step.record.step;
            let reason = step.record.overall_reason.as_deref().unwrap_or_default();
            index.add(number, "overall reason", reason);
            for order in &step.record.orders {
                let text = format!("{} {}: {}", order.side, order.stock_id, order.reason);
                index.add(number, "order", &text);
            }
            exchanges(number)?
                .iter()
                .for_each(|exchange| index.add_exchange(number, exchange));
        }
        Ok(index)
    }

    /// What is found, in order. At most `HITS_MAX`.
    #[must_use]
    pub fn find(&self, words: &str) -> Vec<SearchHit> {
        if words.is_empty() {
            return Vec::new();
        }
        // Words that are too long for a pattern stand nowhere.
        let pattern = RegexBuilder::new(&regex::escape(words))
            .case_insensitive(true)
            .build();
        let Ok(pattern) = pattern else { return Vec::new() };
        let hits = self.passages.iter().filter_map(|passage| {
            Some(SearchHit {
                step: passage.step,
                place: passage.place.clone(),
                context: passage.context(pattern.find(&passage.text)?)?,
            })
        });
        hits.take(HITS_MAX).collect()
    }

    fn add(&mut self, step: usize, place: &str, text: &str) {
        if !text.is_empty() {
            self.passages.push(Passage {
                step,
                place: place.to_owned(),
                text: text.to_owned(),
            });
        }
    }

    fn add_exchange(&mut self, step: usize, exchange: &StepExchange) {
        for (role, text) in exchange.messages.iter().filter(|(role, _)| role != "system") {
            self.add(step, role, text);
        }
        match &exchange.reply {
            ReadReply::Turn { thought, text, .. } => {
                self.add(step, "thought", thought.as_deref().unwrap_or_default());
                self.add(step, "text", text.as_deref().unwrap_or_default());
            }
            ReadReply::Fault(what) => self.add(step, "fault", what),
        }
        for call in &exchange.calls {
            self.add(step, &format!("call of {}", call.name), &call.arguments);
            let answer = call.answer.as_deref().unwrap_or_default();
            self.add(step, &format!("answer of {}", call.name), answer);
        }
    }
}

impl Passage {
    /// Words as they stand there, with what stands round them.
    fn context(&self, found: Match<'_>) -> Option<[String; 3]> {
        let before: String = self
            .text
            .get(..found.start())?
            .chars()
            .rev()
            .take(CONTEXT)
            .collect();
        Some([
            before.chars().rev().collect(),
            found.as_str().to_owned(),
            self.text.get(found.end()..)?.chars().take(CONTEXT).collect(),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, words: &str) -> Option<[String; 3]> {
        let mut index = SearchIndex::default();
        index.add(1, "text", text);
        index.find(words).pop().map(|hit| hit.context)
    }

    #[test]
    fn words_are_found_in_any_case_and_script() {
        assert_eq!(
            found("Buy ASSET_1 now", "asset_1").unwrap(),
            ["Buy ", "ASSET_1", " now"]
        );
        assert_eq!(found("看好股票", "股").unwrap(), ["看好", "股", "票"]);
        assert_eq!(found("İstanbul x", "x").unwrap()[1], "x");
        assert_eq!(found("a", ""), None);
        assert_eq!(found("a", "b"), None);
    }
}
