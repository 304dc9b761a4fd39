//! All that is looked for in a reason, and which of what is found counts.

use super::candidate::{Candidate, MatchKind};
use super::category::Category;
use super::denial::denied;
use super::short_names::short_names;
use super::word_list::{Entry, ListRecord, WordList, word_lists};
use super::words::Words;
use crate::ReasonsError;
use ktd_env::Market;
use ktd_guard::{
    CodeFinder, DateFinder, Folded, LevelFinder, PatternError, is_chinese, is_telling, spellings,
};
use std::ops::Range;
use std::path::Path;

/// The name of the panel's names and sectors, where hits say who found them.
const PANEL: &str = "panel";
/// The name of what people make of them.
const SHORTENED: &str = "panel, shortened";

/// Lists of words, ready to be joined with a panel's names.
#[derive(Debug)]
pub struct Lists(Vec<WordList>);

impl Lists {
    /// The lists that came with the program, those in `folder` in their place.
    ///
    /// # Errors
    /// [`ReasonsError`] when the folder or a line of a list cannot be read.
    pub fn read(folder: Option<&Path>) -> Result<Self, ReasonsError> {
        word_lists(folder).map(Self)
    }

    /// Which lists these are.
    #[must_use]
    pub fn records(&self) -> Vec<ListRecord> {
        self.0.iter().map(|list| list.record.clone()).collect()
    }

    /// What is looked for in reasons on a panel; without one, no company is known by the panel's name or by six digits.
    ///
    /// # Errors
    /// [`ReasonsError::Input`] when the lists are too long.
    pub fn on(&self, market: Option<&Market>) -> Result<Lexicon, ReasonsError> {
        let (panel, short) = market.map(panel_entries).unwrap_or_default();
        // Many companies are called as their products are: by its full name the company is meant.
        let is_brand = |list: &&WordList| list.category == Some(Category::Brand);
        let (brands, others): (Vec<&WordList>, Vec<&WordList>) = self.0.iter().partition(is_brand);
        let others = others.into_iter().map(WordList::named_entries);
        let brands = brands.into_iter().map(WordList::named_entries);
        Ok(Lexicon {
            words: Words::new(
                others
                    .chain([(PANEL.to_owned(), panel.as_slice())])
                    .chain(brands)
                    .chain([(SHORTENED.to_owned(), short.as_slice())]),
            )?,
            dates: DateFinder::new().map_err(|error| invalid(&error))?,
            levels: LevelFinder::new().map_err(|error| invalid(&error))?,
            codes: CodeFinder::new(market).map_err(|error| invalid(&error))?,
        })
    }
}

fn invalid(error: &PatternError) -> ReasonsError {
    ReasonsError::input(error.to_string(), error.hint())
}

/// Company names as people spell them with the sectors, and the names as people shorten them.
fn panel_entries(market: &Market) -> (Vec<Entry>, Vec<Entry>) {
    let listed = market.names().flat_map(|(_, info)| &info.company_names);
    let listed: Vec<String> = listed
        .flat_map(|name| spellings(name))
        .filter(|name| is_telling(name) && !is_short(name))
        .collect();
    let entry = |name: &String, category| Entry::of(name, false, Some(category));
    let short = short_names(&listed);
    let short = short.iter().filter_map(|name| entry(name, Category::Company));
    let companies = listed.iter().filter_map(|name| entry(name, Category::Company));
    let sectors = market
        .sectors()
        .iter()
        .filter_map(|name| entry(name, Category::Sector));
    (companies.chain(sectors).collect(), short.collect())
}

/// Two Chinese characters are what is left of a name cut short behind its marks (`*ST动力`), and most often a word.
fn is_short(name: &str) -> bool {
    name.chars().count() < 3 && name.chars().all(is_chinese)
}

/// What is looked for in the reasons of one panel's episodes.
#[derive(Debug)]
pub struct Lexicon {
    words: Words,
    dates: DateFinder,
    levels: LevelFinder,
    codes: CodeFinder,
}

/// A word that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct WordMatch {
    /// What it tells.
    pub category: Category,
    /// The list, or what else found it.
    pub source: String,
    /// Its bytes in the reason.
    pub bytes: Range<usize>,
    pub(super) kind: MatchKind,
}

impl WordMatch {
    /// Whether the harness could have shown it: a code, a date, a level, a sector, an index or a market.
    pub(super) fn may_be_told(&self) -> bool {
        let is_named = matches!(
            self.category,
            Category::Sector | Category::Index | Category::Market
        );
        self.kind != MatchKind::Word || is_named
    }
}

impl Lexicon {
    /// The words of a text that count, in their order: of those that overlap the longest, at equal length one that is no
    /// hit, then the one of the earlier list. What the text says it does not know or use is left out.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<WordMatch> {
        let folded = Folded::of(text);
        let kept = self.apart(&folded);
        let parts: Vec<Range<usize>> = kept.iter().map(|candidate| candidate.part.clone()).collect();
        let denied = denied(folded.lower(), &parts);
        kept.into_iter()
            .zip(denied)
            .filter(|(_, is_denied)| !is_denied)
            .filter_map(|(candidate, _)| {
                Some(WordMatch {
                    category: candidate.category?,
                    source: candidate.source.to_owned(),
                    bytes: folded.own_bytes(&candidate.part),
                    kind: candidate.kind,
                })
            })
            .collect()
    }

    /// What is found, in the order of the text, each the longest of what it overlaps; no hits were let win and are gone.
    fn apart<'s>(&'s self, folded: &'s Folded) -> Vec<Candidate<'s>> {
        let mut candidates: Vec<Candidate<'_>> = self.words.find(folded).collect();
        candidates.extend(self.codes.find(folded).map(Candidate::from));
        candidates.extend(self.dates.find(folded).into_iter().map(Candidate::from));
        candidates.extend(self.levels.find(folded).into_iter().map(Candidate::from));
        let length = |candidate: &Candidate<'_>| folded.around(&candidate.part).1.chars().count();
        candidates.sort_by_cached_key(|candidate| {
            (
                std::cmp::Reverse(length(candidate)),
                candidate.rank,
                candidate.part.start,
            )
        });
        let mut kept: Vec<Candidate<'_>> = Vec::new();
        let mut taken = vec![false; folded.plain().len()];
        for candidate in candidates {
            let Some(bytes) = taken.get_mut(candidate.part.clone()) else {
                continue;
            };
            if !bytes.contains(&true) {
                bytes.fill(true);
                kept.push(candidate);
            }
        }
        kept.retain(|candidate| candidate.category.is_some());
        kept.sort_by_key(|candidate| candidate.part.start);
        kept
    }
}

#[cfg(test)]
mod tests;
