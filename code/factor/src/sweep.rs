//! The published rules at other thresholds, from stored figures alone.

use crate::accuracy::AccuracyRules;
use crate::funnel::JudgedTask;
use crate::gate::{PUBLISHED_CUTS, SWEPT_CUTS};
use crate::rates::TaskRate;
use crate::verdict::LayersPassed;

/// Least correlations, of which one is enough.
const CORRELATIONS: [f64; 4] = [0.999_9, PUBLISHED.correlation, 0.99, 0.9];
/// Largest errors, of which one is enough.
const ERRORS: [f64; 4] = [1e-5, 1e-4, PUBLISHED.error, 1e-2];
const PUBLISHED: AccuracyRules = AccuracyRules::DEFAULT;

/// Thresholds of the published rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepSetting {
    /// The least correlation of right values.
    pub correlation: f64,
    /// The largest error of right values, over the spread of the golden ones.
    pub error: f64,
    /// How many prefixes the test of look-ahead takes.
    pub cuts: u8,
}

impl SweepSetting {
    /// The thresholds as they were published.
    pub const DEFAULT: Self = Self {
        correlation: PUBLISHED.correlation,
        error: PUBLISHED.error,
        cuts: PUBLISHED_CUTS,
    };

    /// All settings of a sweep, among them the published one.
    pub fn all() -> impl Iterator<Item = Self> {
        SWEPT_CUTS.into_iter().flat_map(|cuts| {
            CORRELATIONS.into_iter().flat_map(move |correlation| {
                ERRORS.into_iter().map(move |error| Self {
                    correlation,
                    error,
                    cuts,
                })
            })
        })
    }

    /// The tasks that pass all layers by the published rules with these thresholds; all else is as in `rules`. None where
    /// a function was not tested with as many prefixes.
    #[must_use]
    pub fn verified(&self, judged: &[JudgedTask<'_>], rules: &AccuracyRules) -> Option<TaskRate> {
        let rules = AccuracyRules {
            correlation: self.correlation,
            error: self.error,
            ..*rules
        };
        let mut rate = TaskRate { passed: 0, tasks: 0 };
        for verdict in judged.iter().filter_map(|judged| judged.verdict) {
            let passes = verdict.passes_published(self.cuts, &rules)?;
            rate.tasks += 1;
            rate.passed += u64::from(passes == LayersPassed::Verified);
        }
        Some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::AccuracyFigures;
    use crate::gate::{LeakEvidence, SafetyVerdict};
    use crate::job::PanelChange;
    use crate::panel::PanelKind;
    use crate::structure::StructureReport;
    use crate::task::FactorTasks;
    use crate::verdict::{CodeExecution, FactorVerdict};
    use std::collections::{BTreeMap, BTreeSet};

    /// A function that is right up to an error of 0.0005, and of which ten prefixes show that it looks ahead.
    fn verdict() -> FactorVerdict {
        let golden: Vec<f64> = (0..100).map(|row| libm::sin(f64::from(row))).collect();
        let figures = AccuracyFigures {
            exact: false,
            correlation: Some(0.995),
            error: Some(0.000_5),
            ..AccuracyFigures::of(&golden, &golden, 0)
        };
        let leak = SafetyVerdict::Leak(LeakEvidence {
            panel: PanelKind::G,
            change: PanelChange::Cut { rows: 275 },
            row: 274,
        });
        FactorVerdict {
            execution: CodeExecution::Ran,
            published_safety: Some(SafetyVerdict::Safe),
            denser_safety: BTreeMap::from([(10, SafetyVerdict::Safe), (20, leak)]),
            safety: None,
            accuracy: PanelKind::JUDGED.map(|panel| (panel, figures)).into(),
            near_miss: None,
            structure: Some(StructureReport {
                violations: BTreeMap::new(),
                has_docstring: true,
                top_functions: 1,
            }),
            loops: None,
            flags: BTreeSet::new(),
            is_date_dependent: None,
        }
    }

    #[test]
    fn thresholds_and_prefixes_decide_from_one_verdict() {
        let tasks = FactorTasks::compiled_in().unwrap();
        let task = &tasks.as_slice()[0];
        let verdict = verdict();
        let judged = [JudgedTask::of(task, Some(&verdict))];
        let passed = |correlation, error, cuts| {
            let setting = SweepSetting {
                correlation,
                error,
                cuts,
            };
            setting.verified(&judged, &PUBLISHED).unwrap().passed
        };
        assert_eq!(passed(0.999, 0.001, 5), 1);
        assert_eq!(passed(0.999, 0.0001, 5), 0);
        assert_eq!(passed(0.99, 0.0001, 5), 1);
        assert_eq!(passed(0.99, 0.0001, 10), 1);
        assert_eq!(passed(0.99, 0.01, 20), 0);
        assert_eq!(SweepSetting::all().count(), 4 * 4 * 3);
        let default = SweepSetting::all().filter(|setting| *setting == SweepSetting::DEFAULT);
        assert_eq!(default.count(), 1);
    }

    #[test]
    fn a_function_that_was_not_tested_so_has_no_place_in_a_sweep() {
        let tasks = FactorTasks::compiled_in().unwrap();
        let task = &tasks.as_slice()[0];
        let tested = verdict();
        let untested = FactorVerdict {
            denser_safety: BTreeMap::new(),
            ..verdict()
        };
        let lost = JudgedTask::of(task, None);
        let judged = |verdict| [JudgedTask::of(task, Some(verdict)), lost];
        let denser = SweepSetting {
            cuts: 10,
            ..SweepSetting::DEFAULT
        };
        assert_eq!(denser.verified(&judged(&untested), &PUBLISHED), None);
        let rate = TaskRate { passed: 1, tasks: 1 };
        assert_eq!(denser.verified(&judged(&tested), &PUBLISHED), Some(rate));
        assert_eq!(
            SweepSetting::DEFAULT.verified(&judged(&untested), &PUBLISHED),
            Some(rate)
        );
    }
}
