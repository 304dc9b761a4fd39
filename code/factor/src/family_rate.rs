//! Shares of answers, and how models compare, over the families of their tasks.

use crate::task::FactorCategory;
use ktd_stats::{Confidence, FlippedSums, Interval, StatsError, TrialCluster, clustered_share};
use std::collections::BTreeMap;

/// A share of answers that pass. A family is a category of tasks: what a model can do of one task says something of the others of
/// its family. Where all tasks are of one family, each task is its own, and what is said holds for that family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FamilyRate<'t> {
    /// Answers that pass.
    pub passed: u64,
    /// All answers.
    pub answers: u64,
    by_task: BTreeMap<(FactorCategory, &'t str), TrialCluster>,
}

impl<'t> FamilyRate<'t> {
    /// The rate of answers, each with the family and the name of its task, and whether it passes.
    #[must_use]
    pub fn of(answers: impl IntoIterator<Item = (FactorCategory, &'t str, bool)>) -> Self {
        let mut rate = Self::default();
        for (family, task, passes) in answers {
            rate.answers += 1;
            rate.passed += u64::from(passes);
            let of_task = rate.by_task.entry((family, task)).or_default();
            of_task.trials += 1;
            of_task.successes += u32::from(passes);
        }
        rate
    }

    /// The share; none without an answer.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let sum =
            |of: fn(&TrialCluster) -> u32| self.by_task.values().map(|task| f64::from(of(task))).sum::<f64>();
        (0 < self.answers).then(|| sum(|task| task.successes) / sum(|task| task.trials))
    }

    /// The 95 % interval over families; none of fewer than two of them.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        let added = |mut sum: TrialCluster, task: &TrialCluster| {
            sum.trials += task.trials;
            sum.successes += task.successes;
            sum
        };
        let units: Vec<TrialCluster> = self.units(TrialCluster::default(), added);
        clustered_share(&units, self.by_task.len(), Confidence::P95)
            .ok()
            .flatten()
    }

    /// What is right of each family, in tasks: the sum of the shares of their answers.
    fn right(&self) -> Vec<f64> {
        self.units(0.0, |sum, task| {
            sum + f64::from(task.successes) / f64::from(task.trials)
        })
    }

    /// Tasks added up by family; each for itself where there is one family.
    fn units<U: Copy>(&self, nothing: U, added: impl Fn(U, &TrialCluster) -> U) -> Vec<U> {
        let mut families: BTreeMap<FactorCategory, U> = BTreeMap::new();
        for ((family, _), task) in &self.by_task {
            let sum = families.entry(*family).or_insert(nothing);
            *sum = added(*sum, task);
        }
        if families.len() < 2 {
            return self.by_task.values().map(|task| added(nothing, task)).collect();
        }
        families.into_values().collect()
    }
}

/// Models on the same tasks side by side: differences are of tasks, and every turn of signs is one of whole families. Beyond
/// thirteen of them turns are drawn by `seed`.
///
/// # Errors
/// [`StatsError`] of no model, and of models with tasks of other families.
pub fn compared_models(rates: &[FamilyRate<'_>], seed: u64) -> Result<FlippedSums, StatsError> {
    let columns: Vec<Vec<f64>> = rates.iter().map(FamilyRate::right).collect();
    FlippedSums::of(&columns, seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use FactorCategory::{Momentum, Reversion, Risk};

    #[test]
    fn every_sample_counts_and_tasks_of_one_family_are_one() {
        let answers = [
            (Momentum, "a", true),
            (Momentum, "a", false),
            (Momentum, "b", true),
            (Momentum, "b", true),
            (Risk, "c", false),
            (Risk, "c", false),
        ];
        let rate = FamilyRate::of(answers);
        assert_eq!((rate.passed, rate.answers), (3, 6));
        assert_eq!(rate.right(), [1.5, 0.0]);
        // of one family each task stands for itself
        assert_eq!(FamilyRate::of(answers.into_iter().take(4)).right(), [0.5, 1.0]);
        assert_eq!(FamilyRate::of([]).share(), None);
        let other = FamilyRate::of([(Momentum, "a", true), (Risk, "c", true), (Reversion, "d", true)]);
        assert!(compared_models(&[rate, other], 1).is_err());
    }
}
