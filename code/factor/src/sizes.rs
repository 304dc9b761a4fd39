//! How often a report is wrong about models of whom everything is known.
//!
//! Models are planted as shares of right answers that vary by family and by task, and judged by the very functions that a report
//! calls. What is drawn here shares no constant with what is tested.

use crate::casts::float;
use crate::family_rate::{FamilyRate, compared_models};
use crate::task::FactorCategory;
use ktd_stats::{Confidence, SplitMix64};

/// How a model's chance of a right answer lies about its true share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedSkill {
    /// Evenly, by family and by task.
    Even,
    /// It can do nearly all of a family or nearly nothing: what few families cannot show where few of them are of the one kind.
    AllOrNothing,
}

/// Models of one report, and what they are asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactorSizeDesign {
    /// Tasks of each family: of one family more than of the others in the least list that is shipped.
    pub families: [usize; 9],
    /// Answers to each task.
    pub samples: usize,
    /// Models.
    pub models: usize,
    /// How their chances lie.
    pub skill: PlantedSkill,
    /// The true share of right answers of the first half of the models, and of the second.
    pub shares: (f64, f64),
}

/// What reports of one design came to, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactorSizes {
    /// 95 % intervals that hold the true share.
    pub interval: f64,
    /// Pairs of equal models with a p by itself of at most .05.
    pub pairs: f64,
    /// Reports in which any pair of equal models is told apart.
    pub any_pair: f64,
    /// Reports in which the places of any model lack a true one.
    pub ranks: f64,
    /// Pairs of unequal models that are told apart; none where all are equal.
    pub power: Option<f64>,
}

impl FactorSizeDesign {
    /// The least list that is shipped, and all tasks; one answer and several; few models and many; equal ones and two halves.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for families in [[1, 1, 1, 4, 1, 1, 1, 1, 1], [12; 9]] {
            for samples in [1, 5] {
                let design = |models, shares| Self {
                    families,
                    samples,
                    models,
                    skill: PlantedSkill::Even,
                    shares,
                };
                all.extend([0.5, 0.1].map(|share| design(2, (share, share))));
                all.extend([0.5, 0.1].map(|share| design(12, (share, share))));
                all.extend([2, 12].map(|models| design(models, (0.7, 0.35))));
            }
            all.extend([0.5, 0.2].map(|share| Self {
                families,
                samples: 1,
                models: 12,
                skill: PlantedSkill::AllOrNothing,
                shares: (share, share),
            }));
        }
        all
    }

    /// All tasks.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.families.iter().sum()
    }

    /// What so many reports come to, drawn by `seed`.
    #[must_use]
    pub fn sizes(&self, reports: u32, seed: u64) -> FactorSizes {
        let mut sums = [0.0_f64; 5];
        for report in 0..reports {
            let found = self.report(&mut SplitMix64::of_replicate(seed, report));
            for (sum, value) in sums.iter_mut().zip(found) {
                *sum += value;
            }
        }
        let [interval, pairs, any_pair, ranks, power] = sums.map(|sum| sum / f64::from(reports.max(1)));
        FactorSizes {
            interval,
            pairs,
            any_pair,
            ranks,
            power: (0 < self.better()).then_some(power),
        }
    }

    /// Models that are truly better than the others; none where all are equal.
    fn better(&self) -> usize {
        if self.shares.1 < self.shares.0 {
            self.models / 2
        } else {
            0
        }
    }

    fn share(&self, model: usize) -> f64 {
        if model < self.models / 2 {
            self.shares.0
        } else {
            self.shares.1
        }
    }

    /// One report: the shares of what [`FactorSizes`] counts.
    fn report(&self, generator: &mut SplitMix64) -> [f64; 5] {
        let names: Vec<String> = (0..self.tasks()).map(|task| task.to_string()).collect();
        let answers = self.answers(generator);
        let rates: Vec<FamilyRate<'_>> = answers
            .iter()
            .map(|own| {
                let named = own.iter().filter_map(|(task, family, is_right)| {
                    Some((*family, names.get(*task)?.as_str(), *is_right))
                });
                FamilyRate::of(named)
            })
            .collect();
        let held = rates.iter().enumerate().filter(|(model, rate)| {
            let truth = self.share(*model);
            let holds = |found: ktd_stats::Interval| found.lower <= truth && truth <= found.upper;
            rate.interval().is_some_and(holds)
        });
        let held = float(held.count()) / float(rates.len().max(1));
        let Ok(compared) = compared_models(&rates, generator.next_u64()) else {
            return [held, 0.0, 0.0, 0.0, 0.0];
        };
        let (mut equal, mut small, mut wrong, mut unequal, mut apart) = (0, 0, 0, 0, 0);
        for one in 0..self.models {
            for other in one + 1..self.models {
                let Some(pair) = compared.pair(one, other) else {
                    continue;
                };
                let is_apart = usize::from(pair.p_of_all <= 0.05);
                if (one < self.better()) == (other < self.better()) {
                    equal += 1;
                    small += usize::from(pair.p <= 0.05);
                    wrong += is_apart;
                } else {
                    unequal += 1;
                    apart += is_apart;
                }
            }
        }
        let everyone: Vec<usize> = (0..self.models).collect();
        let ranks = compared.ranks(&everyone, Confidence::P95);
        let lacks = ranks.iter().enumerate().any(|(model, rank)| {
            let (best, worst) = if model < self.better() {
                (1, self.better())
            } else {
                (self.better() + 1, self.models)
            };
            best < rank.lower || rank.upper < worst
        });
        [
            held,
            float(small) / float(equal.max(1)),
            f64::from(u8::from(0 < wrong)),
            f64::from(u8::from(lacks)),
            float(apart) / float(unequal.max(1)),
        ]
    }

    /// Answers of each model: the task, its family, and whether the answer is right. How far the chance of a task lies from a
    /// model's true share goes by family, which models share in part, and by task; it is even on both sides.
    fn answers(&self, generator: &mut SplitMix64) -> Vec<Vec<(usize, FactorCategory, bool)>> {
        let mut answers = vec![Vec::new(); self.models];
        let even = |generator: &mut SplitMix64| generator.uniform().mul_add(2.0, -1.0);
        let mut task = 0;
        for (family, tasks) in FactorCategory::ALL.into_iter().zip(self.families) {
            let of_all = even(generator);
            let own: Vec<f64> = (0..self.models).map(|_| even(generator)).collect();
            for _ in 0..tasks {
                let of_task = even(generator);
                for (model, (answers, own)) in answers.iter_mut().zip(&own).enumerate() {
                    let truth = self.share(model);
                    let by_family = 0.2 * of_all + 0.45 * own;
                    let by_task = 0.2 * of_task + 0.15 * even(generator);
                    let chance = match self.skill {
                        PlantedSkill::Even => truth + truth.min(1.0 - truth) * (by_family + by_task),
                        // 90 points lie between the two kinds of families.
                        PlantedSkill::AllOrNothing if f64::midpoint(*own, 1.0) < (truth - 0.05) / 0.9 => 0.95,
                        PlantedSkill::AllOrNothing => 0.05,
                    };
                    for _ in 0..self.samples {
                        answers.push((task, family, generator.uniform() < chance));
                    }
                }
                task += 1;
            }
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a share of reports may be one of at most this size, at 99 %.
    fn is_at_most(share: f64, size: f64, reports: f64) -> bool {
        share <= size + 2.576 * (size * (1.0 - size) / reports).sqrt()
    }

    #[test]
    fn reports_of_planted_models_are_wrong_no_more_often_than_they_say() {
        for design in FactorSizeDesign::all() {
            let reports = if design.models < 12 { 400 } else { 100 };
            let found = design.sizes(reports, 33);
            let reports = f64::from(reports);
            let at = format!("{design:?}: {found:?}");
            if design.skill == PlantedSkill::Even {
                assert!(is_at_most(1.0 - found.interval, 0.07, reports), "{at}");
            }
            for size in [found.pairs, found.any_pair, found.ranks] {
                assert!(is_at_most(size, 0.05, reports), "{at}");
            }
            // Of all tasks with one answer each, models of 70 and 35 % are told apart more often than not.
            if let Some(power) = found.power.filter(|_| design.tasks() == 108) {
                assert!(0.5 < power, "{at}");
            }
        }
    }
}
