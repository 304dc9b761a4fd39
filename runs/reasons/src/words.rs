//! Words of lists, all looked for in one pass.

use super::candidate::{Candidate, MatchKind};
use super::category::Category;
use super::word_list::Entry;
use crate::ReasonsError;
use aho_corasick::AhoCorasick;
use ktd_guard::Folded;

/// Looks for the entries of lists.
#[derive(Debug)]
pub(super) struct Words {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
    sources: Vec<String>,
}

#[derive(Debug)]
struct Pattern {
    /// The spelling with its case, where that counts.
    exact: Option<String>,
    category: Option<Category>,
    source: usize,
}

impl Words {
    /// A finder of the entries of each source, which are given in the order in which they win at equal length.
    ///
    /// # Errors
    /// [`ReasonsError::Input`] when the lists are too long to be looked for.
    pub(super) fn new<'e>(
        sources: impl IntoIterator<Item = (String, &'e [Entry])>,
    ) -> Result<Self, ReasonsError> {
        let (mut names, mut patterns, mut spellings) = (Vec::new(), Vec::new(), Vec::new());
        for (source, (name, entries)) in sources.into_iter().enumerate() {
            names.push(name);
            for entry in entries {
                for spelling in &entry.spellings {
                    spellings.push(spelling.to_lowercase());
                    patterns.push(Pattern {
                        exact: entry.is_exact.then(|| spelling.clone()),
                        category: entry.category,
                        source,
                    });
                }
            }
        }
        let automaton = AhoCorasick::new(&spellings).map_err(|error| {
            ReasonsError::input(
                format!("the lists of words are too long: {error}"),
                "shorten them",
            )
        })?;
        Ok(Self {
            automaton,
            patterns,
            sources: names,
        })
    }

    /// Every whole word of a list, those inside others too.
    pub(super) fn find<'s>(&'s self, text: &'s Folded) -> impl Iterator<Item = Candidate<'s>> {
        self.automaton
            .find_overlapping_iter(text.lower())
            .filter_map(|found| {
                let pattern = self.patterns.get(found.pattern().as_usize())?;
                let part = found.range();
                let (_, word, _) = text.around(&part);
                let is_spelt = pattern.exact.as_ref().is_none_or(|exact| exact == word);
                (is_spelt && text.is_whole(&part)).then(|| Candidate {
                    part,
                    category: pattern.category,
                    source: self.sources.get(pattern.source).map_or("", String::as_str),
                    rank: if pattern.category.is_none() {
                        0
                    } else {
                        pattern.source + 1
                    },
                    kind: MatchKind::Word,
                })
            })
    }
}
