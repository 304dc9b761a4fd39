//! The search by genetic programming: the fittest formulas have children.

use super::book::TrialBook;
use super::candidate::SearchCandidate;
use super::genetic_settings::GeneticSettings;
use super::growth::place_below;
use super::random::{FormulaSearch, SearchTerms};
use super::trial::{Trial, TrialScore};
use ktd_env::KeyedStream;
use ktd_expressions::Formula;
use std::collections::BTreeSet;

/// Children in a row that give nothing new, after which random growth takes their places.
const FRUITLESS_CHILDREN: usize = 1_000;

/// The search by genetic programming. Parents live on beside their children while they are fit, each in a niche of its own:
/// of formulas whose train figures are about equal, which mostly order the names alike, the fittest alone. Every child is a
/// formula that was not tried before.
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

    /// Random formulas, which join the population.
    fn grown(&mut self, wanted: usize) -> Vec<SearchCandidate> {
        let drawn = self.terms.drawn(&mut self.stream, &self.book, wanted);
        let trees = drawn.iter().filter_map(SearchCandidate::checked);
        self.population
            .extend(trees.map(|checked| checked.formula().clone()));
        drawn
    }

    /// Children of those that live on, which join them.
    fn next_generation(&mut self, wanted: usize) -> Vec<SearchCandidate> {
        let fitness = self.select_survivors();
        let mut children = Vec::new();
        let mut batch = Vec::new();
        let mut forms = BTreeSet::new();
        let mut fruitless = 0;
        while !fitness.is_empty() && children.len() < wanted && fruitless < FRUITLESS_CHILDREN {
            fruitless += 1;
            let child = self.child(&fitness);
            if self.terms.max_nodes < child.nodes() {
                continue;
            }
            let candidate = SearchCandidate::of(&child, &self.terms.fields, self.terms.max_nodes);
            if self.book.trial(candidate.form()).is_none() && forms.insert(candidate.form().to_owned()) {
                if candidate.checked().is_some() {
                    children.push(child);
                    fruitless = 0;
                }
                batch.push(candidate);
            }
        }
        let missing = wanted - children.len();
        self.population.extend(children);
        if 0 < missing {
            let new = self.grown(missing);
            batch.extend(new.into_iter().filter(|one| forms.insert(one.form().to_owned())));
        }
        batch
    }

    /// Leaves the fittest in the population, one a niche, and returns their fitness.
    fn select_survivors(&mut self) -> Vec<f64> {
        let score = |formula: Formula| {
            let score = self.book.trial(&formula.to_string())?.outcome.ok()?;
            Some((score, formula))
        };
        let mut scored: Vec<(TrialScore, Formula)> = std::mem::take(&mut self.population)
            .into_iter()
            .filter_map(score)
            .collect();
        scored.sort_by(|(left, _), (right, _)| right.fitness.total_cmp(&left.fitness));
        let figures = scored.iter().map(|(score, _)| score.rank_ic.abs());
        let width = self.settings.niche * figures.fold(0.0, f64::max);
        let mut taken: Vec<TrialScore> = Vec::new();
        for (score, formula) in scored {
            let is_near = |other: &TrialScore| (other.rank_ic.abs() - score.rank_ic.abs()).abs() <= width;
            if taken.len() < self.settings.population && !taken.iter().any(is_near) {
                taken.push(score);
                self.population.push(formula);
            }
        }
        taken.iter().map(|score| score.fitness).collect()
    }

    fn child(&mut self, fitness: &[f64]) -> Formula {
        let (population, rounds) = (&self.population, self.settings.tournament);
        let growth = &self.terms.growth;
        self.settings.child(growth, &mut self.stream, |stream| {
            let drawn = (0..rounds.max(1)).map(|_| place_below(stream, population.len()));
            let place = fittest(fitness, drawn).unwrap_or(0);
            population.get(place).unwrap_or(&NO_FORMULA)
        })
    }
}

/// Stands where a population is empty, which has no children.
static NO_FORMULA: Formula = Formula::Field(String::new());

/// The place with the highest fitness, the first of equals.
fn fittest(fitness: &[f64], places: impl IntoIterator<Item = usize>) -> Option<usize> {
    let worth = |place: usize| fitness.get(place).copied().unwrap_or(f64::NEG_INFINITY);
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
        let batch = if self.generation == 1 {
            self.grown(self.settings.population.min(left))
        } else {
            self.next_generation(self.settings.children.min(left))
        };
        (!batch.is_empty()).then_some(batch)
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
        children: 60,
        generations: 8,
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
                .filter_map(|formula| search.book().fitness(&formula.to_string()));
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
    fn of_formulas_with_about_equal_figures_the_fittest_lives_on() {
        let mut search = search(10_000, 1);
        let batch = search.next_batch().unwrap();
        let grown: Vec<&str> = batch
            .iter()
            .filter_map(|candidate| Some(candidate.checked()?.canonical()))
            .collect();
        // One without a figure, two that are 0.1 % apart, and then figures 1 % apart, of which every second one is too near.
        let figure = |place: u32| match place {
            0 => Err(TrialFault::Constant),
            1 => Ok(-1.0),
            2 => Ok(0.999),
            place => Ok(1.0 - 0.01 * f64::from(place - 2)),
        };
        let tried = grown.iter().zip(0..);
        search.take(
            tried
                .map(|(form, place)| Trial::new(form, 1, figure(place), 0.001))
                .collect(),
        );
        let fitness = search.select_survivors();
        let alive: Vec<String> = search.population.iter().map(ToString::to_string).collect();
        let expected = [1].into_iter().chain((4..grown.len()).step_by(2));
        let expected: Vec<&str> = expected.map(|place| grown[place]).collect();
        assert_eq!(alive, expected);
        assert_eq!(fitness.len(), alive.len());
        assert!(fitness.is_sorted_by(|left, right| left > right), "{fitness:?}");
    }

    #[test]
    fn no_more_are_evaluated_than_allowed() {
        for evaluations in [1, 59, 60, 61, 150] {
            let (_, book) = searched(&mut search(evaluations, 1));
            assert_eq!(book.evaluated(), evaluations);
        }
    }
}
