//! The search by genetic programming: the fittest formulas have children.

use super::book::TrialBook;
use super::candidate::SearchCandidate;
use super::growth::place_below;
use super::random::{FormulaSearch, SearchTerms};
use super::trial::Trial;
use super::variation::Variation;
use ktd_env::KeyedStream;
use ktd_expressions::Formula;
use std::collections::BTreeSet;

/// How a genetic search goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneticSettings {
    /// Formulas of a generation.
    pub population: usize,
    /// Generations, the random first one among them.
    pub generations: usize,
    /// Formulas of which the fittest becomes a parent.
    pub tournament: usize,
    /// How children are made.
    pub variation: Variation,
}

impl Default for GeneticSettings {
    fn default() -> Self {
        Self {
            population: 500,
            generations: 20,
            tournament: 10,
            variation: Variation::default(),
        }
    }
}

/// The search by genetic programming. The fittest formula of a generation lives on in the next; a child with too many nodes
/// gives way to its parent. A formula that was tried before costs no evaluation.
#[derive(Debug, Clone)]
pub struct GeneticSearch {
    terms: SearchTerms,
    settings: GeneticSettings,
    stream: KeyedStream,
    book: TrialBook,
    population: Vec<Formula>,
    generation: usize,
}

impl GeneticSearch {
    /// The search of a seed.
    #[must_use]
    pub fn new(terms: SearchTerms, settings: GeneticSettings, seed: u64) -> Self {
        Self {
            terms,
            settings,
            stream: KeyedStream::for_purpose(seed, "genetic search"),
            book: TrialBook::default(),
            population: Vec::new(),
            generation: 0,
        }
    }

    fn first_generation(&mut self, left: usize) -> Vec<SearchCandidate> {
        let wanted = self.settings.population.min(left);
        let drawn = self.terms.drawn(&mut self.stream, &self.book, wanted);
        let trees = drawn.iter().filter_map(SearchCandidate::checked);
        self.population = trees.map(|checked| checked.formula().clone()).collect();
        drawn
    }

    fn next_generation(&mut self, left: usize) -> Vec<SearchCandidate> {
        let fitness: Vec<Option<f64>> = self
            .population
            .iter()
            .map(|formula| self.fitness(formula))
            .collect();
        let mut children: Vec<Formula> = fittest(&fitness, 0..fitness.len())
            .and_then(|place| self.population.get(place).cloned())
            .into_iter()
            .collect();
        let mut batch = Vec::new();
        let mut forms: BTreeSet<String> = children.iter().map(ToString::to_string).collect();
        let mut checked = 0;
        while children.len() < self.population.len() && checked < left {
            let child = self.child(&fitness);
            let candidate = SearchCandidate::of(&child, &self.terms.fields, self.terms.max_nodes);
            let is_new = forms.insert(candidate.form().to_owned());
            children.push(child);
            if is_new && self.book.trial(candidate.form()).is_none() {
                checked += usize::from(candidate.checked().is_some());
                batch.push(candidate);
            }
        }
        self.population = children;
        batch
    }

    fn child(&mut self, fitness: &[Option<f64>]) -> Formula {
        let (population, rounds) = (&self.population, self.settings.tournament);
        let mut first = None;
        let child = self
            .settings
            .variation
            .child(&self.terms.growth, &mut self.stream, |stream| {
                let drawn: Vec<usize> = (0..rounds.max(1))
                    .map(|_| place_below(stream, population.len()))
                    .collect();
                let place = fittest(fitness, drawn).unwrap_or(0);
                let parent = population.get(place).unwrap_or(&NO_FORMULA);
                first.get_or_insert(parent);
                parent
            });
        match first {
            Some(parent) if self.terms.max_nodes < child.nodes() => parent.clone(),
            _ => child,
        }
    }

    fn fitness(&self, formula: &Formula) -> Option<f64> {
        self.book.fitness(&formula.to_string())
    }
}

/// Stands where a population is empty, which has no children.
static NO_FORMULA: Formula = Formula::Field(String::new());

/// The place with the highest fitness, the first of equals; one without fitness only where none has any.
fn fittest(fitness: &[Option<f64>], places: impl IntoIterator<Item = usize>) -> Option<usize> {
    let worth = |place: usize| fitness.get(place).copied().flatten().unwrap_or(f64::NEG_INFINITY);
    places
        .into_iter()
        .reduce(|best, place| if worth(best) < worth(place) { place } else { best })
}

impl FormulaSearch for GeneticSearch {
    fn next_batch(&mut self) -> Option<Vec<SearchCandidate>> {
        let left = self.terms.evaluations.saturating_sub(self.book.evaluated());
        if self.settings.generations <= self.generation || left == 0 {
            return None;
        }
        self.generation += 1;
        if self.generation == 1 {
            Some(self.first_generation(left))
        } else {
            Some(self.next_generation(left))
        }
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
    use super::{GeneticSearch, GeneticSettings};
    use crate::search::book::TrialBook;
    use crate::search::growth::FormulaGrowth;
    use crate::search::random::{FormulaSearch, SearchTerms};
    use crate::search::trial::{Trial, TrialFault};

    const SETTINGS: fn() -> GeneticSettings = || GeneticSettings {
        population: 60,
        generations: 8,
        tournament: 5,
        ..GeneticSettings::default()
    };

    fn search(evaluations: usize, seed: u64) -> GeneticSearch {
        let growth = FormulaGrowth::default();
        let terms = SearchTerms {
            fields: growth.fields.clone(),
            growth,
            max_nodes: 12,
            evaluations,
        };
        GeneticSearch::new(terms, SETTINGS(), seed)
    }

    /// Each `$volume` is worth a tenth; what has `$open` in it is constant.
    fn worth(form: &str) -> Result<f64, TrialFault> {
        if form.contains("$open") {
            return Err(TrialFault::Constant);
        }
        let volumes = form.matches("$volume").count();
        Ok(-0.1 * ktd_stats::moments::count(volumes))
    }

    /// The best fitness of each generation, and everything that was tried.
    fn searched(search: &mut GeneticSearch) -> (Vec<f64>, TrialBook) {
        let mut best = Vec::new();
        while let Some(batch) = search.next_batch() {
            let tried = batch.iter().map(|candidate| {
                let (nodes, figure) = match candidate.refusal() {
                    Some((_, nodes, fault)) => (nodes, Err(fault)),
                    None => (
                        candidate.checked().unwrap().formula().nodes(),
                        worth(candidate.form()),
                    ),
                };
                Trial::new(candidate.form(), nodes, figure, 0.001)
            });
            search.take(tried.collect());
            let alive = search
                .population
                .iter()
                .filter_map(|formula| search.fitness(formula));
            best.push(alive.reduce(f64::max).unwrap_or(f64::NEG_INFINITY));
        }
        (best, search.book().clone())
    }

    #[test]
    fn generations_grow_fitter_and_the_best_one_lives_on() {
        let (best, book) = searched(&mut search(10_000, 1));
        assert_eq!(best.len(), 8);
        assert!(best.windows(2).all(|pair| pair[0] <= pair[1]), "{best:?}");
        assert!(best[0] + 0.15 < best[7], "{best:?}");
        assert!((61..=60 * 8).contains(&book.evaluated()));
        assert!(
            book.trials()
                .iter()
                .all(|trial| trial.is_evaluated() == (trial.nodes <= 12))
        );
        assert_eq!(searched(&mut search(10_000, 1)), (best.clone(), book));
        assert_ne!(searched(&mut search(10_000, 2)).0, best);
    }

    #[test]
    fn no_more_are_evaluated_than_allowed() {
        for evaluations in [1, 59, 60, 61, 150] {
            let (_, book) = searched(&mut search(evaluations, 1));
            assert_eq!(book.evaluated(), evaluations);
        }
    }
}
