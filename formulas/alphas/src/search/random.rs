//! The search by random growth alone: what every other one must beat.

use super::book::TrialBook;
use super::candidate::SearchCandidate;
use super::growth::FormulaGrowth;
use super::trial::Trial;
use ktd_env::KeyedStream;
use std::collections::BTreeSet;

/// Draws in a row that give nothing new, after which a language is taken to hold no more formulas.
const FRUITLESS_DRAWS: usize = 10_000;

/// Candidates of a batch, at most.
const BATCH: usize = 500;

/// What every search is bound by.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchTerms {
    /// How formulas are grown.
    pub growth: FormulaGrowth,
    /// Fields of the data, by name in lower case.
    pub fields: Vec<String>,
    /// Nodes of a formula, at most.
    pub max_nodes: usize,
    /// Formulas that are evaluated, at most.
    pub evaluations: usize,
}

impl SearchTerms {
    /// Draws new formulas until `wanted` of them are to be evaluated, or no more are found.
    pub(super) fn drawn(
        &self,
        stream: &mut KeyedStream,
        book: &TrialBook,
        wanted: usize,
    ) -> Vec<SearchCandidate> {
        let mut drawn: Vec<SearchCandidate> = Vec::new();
        let mut forms = BTreeSet::new();
        let (mut checked, mut fruitless) = (0, 0);
        while checked < wanted && fruitless < FRUITLESS_DRAWS {
            let candidate = SearchCandidate::of(&self.growth.formula(stream), &self.fields, self.max_nodes);
            fruitless += 1;
            if book.trial(candidate.form()).is_none() && forms.insert(candidate.form().to_owned()) {
                if candidate.checked().is_some() {
                    (checked, fruitless) = (checked + 1, 0);
                }
                drawn.push(candidate);
            }
        }
        drawn
    }
}

/// A search for formulas: candidates are asked for batch by batch, and what became of them is given back.
pub trait FormulaSearch {
    /// The next candidates, each new; none at the end. A batch may be empty before.
    fn next_batch(&mut self) -> Option<Vec<SearchCandidate>>;

    /// What became of the candidates of the last batch, in their order.
    fn take(&mut self, trials: Vec<Trial>);

    /// Everything that was tried so far.
    fn book(&self) -> &TrialBook;
}

/// The search by random growth.
#[derive(Debug, Clone)]
pub struct RandomSearch {
    terms: SearchTerms,
    stream: KeyedStream,
    book: TrialBook,
}

impl RandomSearch {
    /// The search of a seed.
    #[must_use]
    pub fn new(terms: SearchTerms, seed: u64) -> Self {
        Self {
            terms,
            stream: KeyedStream::for_purpose(seed, "random formulas"),
            book: TrialBook::default(),
        }
    }
}

impl FormulaSearch for RandomSearch {
    fn next_batch(&mut self) -> Option<Vec<SearchCandidate>> {
        let left = self.terms.evaluations.saturating_sub(self.book.evaluated());
        let drawn = self.terms.drawn(&mut self.stream, &self.book, left.min(BATCH));
        (!drawn.is_empty()).then_some(drawn)
    }

    fn take(&mut self, trials: Vec<Trial>) {
        for trial in trials {
            self.book.add(trial);
        }
    }

    fn book(&self) -> &TrialBook {
        &self.book
    }
}

#[cfg(test)]
mod tests {
    use super::{FormulaSearch, RandomSearch, SearchTerms};
    use crate::search::candidate::SearchCandidate;
    use crate::search::growth::FormulaGrowth;
    use crate::search::trial::Trial;

    fn terms(growth: FormulaGrowth) -> SearchTerms {
        SearchTerms {
            fields: growth.fields.clone(),
            growth,
            max_nodes: 12,
            evaluations: 1_200,
        }
    }

    fn searched(mut search: RandomSearch) -> RandomSearch {
        while let Some(batch) = search.next_batch() {
            let tried = batch.iter().map(|candidate| match candidate {
                SearchCandidate::Checked(checked) => {
                    Trial::new(checked.canonical(), checked.formula().nodes(), Ok(0.0), 0.001)
                }
                SearchCandidate::Refused { form, nodes, fault } => {
                    Trial::new(form, *nodes, Err(*fault), 0.001)
                }
            });
            search.take(tried.collect());
        }
        search
    }

    #[test]
    fn every_draw_is_new_small_enough_and_counted() {
        let found = searched(RandomSearch::new(terms(FormulaGrowth::default()), 1));
        let book = found.book();
        assert_eq!(book.evaluated(), 1_200);
        let kept = |trial: &Trial| trial.is_evaluated() == (trial.nodes <= 12);
        assert!(book.trials().iter().all(kept));
        assert!(1_200 < book.trials().len());
        let again = searched(RandomSearch::new(terms(FormulaGrowth::default()), 1));
        assert_eq!(again.book(), book);
        let other = searched(RandomSearch::new(terms(FormulaGrowth::default()), 2));
        assert_ne!(other.book(), book);
    }

    #[test]
    fn a_language_with_few_formulas_ends_the_search() {
        let growth = FormulaGrowth {
            levels: 1,
            fields: vec!["open".to_owned(), "close".to_owned()],
            windows: vec![5],
            ..FormulaGrowth::default()
        };
        // Two fields; three operators on each; six on each pair of them; twenty windows on each; two windows on each pair.
        let all = 2 + 3 * 2 + 6 * 4 + 20 * 2 + 2 * 4;
        assert_eq!(
            searched(RandomSearch::new(terms(growth), 1)).book().evaluated(),
            all
        );
    }

    #[test]
    fn a_field_that_the_data_lacks_is_refused_by_its_code() {
        let mut terms = terms(FormulaGrowth::default());
        terms.fields.retain(|field| field != "vwap");
        let found = searched(RandomSearch::new(terms, 1));
        let without =
            |trial: &Trial| trial.is_evaluated() || trial.nodes > 12 || trial.form.contains("$vwap");
        assert!(found.book().trials().iter().all(without));
        let trial = found.book().trial("$vwap").unwrap();
        assert_eq!(trial.outcome.unwrap_err().code(), "unknown_field");
    }
}
