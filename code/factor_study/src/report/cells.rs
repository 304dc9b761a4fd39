//! The cells of a report, and how they compare.

use crate::run::{CellFound, FactorCodeCell, FactorCodeConfig, FactorCodeReport, JudgedOn, rounds_of};
use ktd_factor_code::{
    AccuracyRules, FactorVerdict, Funnel, JudgeRule, JudgedTask, LayersPassed, ScoredRound, TaskGroup,
};
use std::collections::BTreeMap;

/// What one model came to, with what tables need of it.
#[derive(Debug)]
pub(super) struct ReportedCell<'r> {
    pub(super) world: &'r JudgedOn,
    pub(super) found: &'r CellFound,
    pub(super) samples: u64,
    pub(super) rounds: Vec<ScoredRound>,
    pub(super) rules: AccuracyRules,
    name: String,
}

impl<'r> ReportedCell<'r> {
    pub(super) fn all(keys: &FactorCodeConfig, report: &'r FactorCodeReport) -> Vec<Self> {
        let cells = report.cells.iter().map(|found| Self {
            world: &report.world,
            found,
            samples: keys.samples,
            rounds: rounds_of(keys.rounds, &found.answers),
            rules: keys.rules(),
            name: found.cell.id(),
        });
        cells.collect()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Who was asked, and how.
    pub(super) const fn who(&self) -> &'r FactorCodeCell {
        &self.found.cell
    }

    /// The verdicts after a round, in the order of the tasks.
    pub(super) fn judged<'a>(&'a self, round: &'a ScoredRound) -> Vec<JudgedTask<'a>> {
        let of_round = self.world.tasks.iter().filter_map(|task| {
            Some(JudgedTask {
                id: &task.id,
                level: task.level,
                category: task.category,
                verdict: round.verdicts.get(&task.id)?.as_ref(),
            })
        });
        of_round.collect()
    }

    /// The verdicts after the last round.
    pub(super) fn last(&self) -> Vec<JudgedTask<'_>> {
        let last = self.rounds.last();
        last.map(|round| self.judged(round)).unwrap_or_default()
    }

    /// The counts of all tasks after the last round.
    pub(super) fn funnel(&self) -> Funnel {
        Funnel::of(&self.last(), TaskGroup::All, &self.rules)
    }

    /// The share of all tasks that pass all layers by the strict rules.
    pub(super) fn verified(&self) -> Option<f64> {
        self.funnel()
            .rate(JudgeRule::Strict, LayersPassed::Verified)
            .share()
    }

    /// The last verdict on a task.
    pub(super) fn verdict(&self, task: &str) -> Option<&FactorVerdict> {
        self.rounds.last()?.verdicts.get(task)?.as_ref()
    }

    /// Why it has no rank, if it has none.
    pub(super) fn no_rank(&self) -> Option<String> {
        if !self.world.is_boxed {
            return Some("unsafe: run without a sandbox".to_owned());
        }
        let lost = self.found.uncovered;
        (0 < lost).then(|| format!("{lost} of {} tasks are uncovered", self.world.tasks.len()))
    }
}

/// Cells that are compared: of one style and seed.
pub(super) fn cohorts<'a, 'r>(cells: &'a [ReportedCell<'r>]) -> Vec<Vec<&'a ReportedCell<'r>>> {
    let mut cohorts: BTreeMap<_, Vec<&ReportedCell<'_>>> = BTreeMap::new();
    for reported in cells {
        let who = reported.who();
        cohorts.entry((who.style, who.seed)).or_default().push(reported);
    }
    cohorts.into_values().collect()
}
