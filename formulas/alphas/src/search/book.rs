//! Everything that a search has tried.

use super::trial::Trial;
use std::collections::BTreeMap;

/// Every distinct formula that a search tried, in order, with what became of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialBook {
    trials: Vec<Trial>,
    places: BTreeMap<String, usize>,
}

impl TrialBook {
    /// Adds a trial; one of a formula that was tried before changes nothing.
    pub fn add(&mut self, trial: Trial) {
        if !self.places.contains_key(&trial.form) {
            self.places.insert(trial.form.clone(), self.trials.len());
            self.trials.push(trial);
        }
    }

    /// The trial of a canonical form.
    #[must_use]
    pub fn trial(&self, form: &str) -> Option<&Trial> {
        self.trials.get(*self.places.get(form)?)
    }

    /// All trials, in order.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// How many were evaluated: the looks at the data that a test of the best one must count.
    #[must_use]
    pub fn evaluated(&self) -> usize {
        self.trials.iter().filter(|trial| trial.is_evaluated()).count()
    }

    /// The fitness of a canonical form, where it has one.
    #[must_use]
    pub fn fitness(&self, form: &str) -> Option<f64> {
        Some(self.trial(form)?.outcome.ok()?.fitness)
    }

    /// The fittest trials, best first; of equals the earlier one.
    #[must_use]
    pub fn hall_of_fame(&self, places: usize) -> Vec<&Trial> {
        let fit = self.trials.iter();
        let mut fit: Vec<(f64, &Trial)> = fit
            .filter_map(|trial| Some((trial.outcome.ok()?.fitness, trial)))
            .collect();
        fit.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        fit.truncate(places);
        fit.into_iter().map(|(_, trial)| trial).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::TrialBook;
    use crate::search::trial::{Trial, TrialFault};
    use ktd_expressions::FormulaFault;

    #[test]
    fn each_formula_counts_once_and_only_values_are_looks() {
        let mut book = TrialBook::default();
        book.add(Trial::new("$open", 1, Ok(-0.03), 0.001));
        book.add(Trial::new("$open", 1, Ok(0.9), 0.001));
        book.add(Trial::new("$low", 1, Err(TrialFault::Constant), 0.001));
        book.add(Trial::new("$high", 1, Ok(0.05), 0.001));
        let refused = TrialFault::Refused(FormulaFault::UnknownField);
        book.add(Trial::new("$vwap", 1, Err(refused), 0.001));
        assert_eq!((book.trials().len(), book.evaluated()), (4, 3));
        let best: Vec<&str> = book.hall_of_fame(9).iter().map(|t| t.form.as_str()).collect();
        assert_eq!(best, ["$high", "$open"]);
        assert_eq!(book.hall_of_fame(1).len(), 1);
        assert!((book.fitness("$open").unwrap() - 0.029).abs() < 1e-12);
        assert_eq!(book.fitness("$low"), None);
        assert_eq!(
            book.trial("$vwap").unwrap().outcome.unwrap_err().code(),
            "unknown_field"
        );
    }
}
