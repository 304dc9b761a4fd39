//! The cells of a report.

use crate::run::{
    CellFound, FIRST_ROUND, FactorCodeCell, FactorCodeConfig, FactorCodeReport, JudgedOn, rounds_of,
};
use ktd_factor_code::{
    AccuracyRules, FamilyRate, Funnel, JudgeRule, JudgedTask, LayersPassed, ScoredRound, TaskGroup,
};
use std::collections::BTreeMap;

/// What one model came to, with what tables need of it.
#[derive(Debug)]
pub(super) struct ReportedCell<'r> {
    pub(super) world: &'r JudgedOn,
    pub(super) found: &'r CellFound,
    pub(super) samples: u64,
    /// The temperature that it was asked at; none where the file leaves it to the provider.
    pub(super) temperature: Option<f64>,
    pub(super) rules: AccuracyRules,
    /// Round by round the verdicts of each sample.
    rounds: Vec<Vec<ScoredRound>>,
    /// Their counts over all tasks, of the first round and of those after it.
    first: Funnel,
    later: Vec<Funnel>,
    name: String,
}

impl<'r> ReportedCell<'r> {
    pub(super) fn all(keys: &FactorCodeConfig, report: &'r FactorCodeReport) -> Vec<Self> {
        let cell = |found: &'r CellFound| {
            let agent = keys.agents.iter().find(|agent| agent.id == found.cell.agent);
            let mut cell = Self {
                world: &report.world,
                found,
                samples: keys.samples,
                temperature: agent.and_then(ktd_experiment::agent::AgentConfig::temperature),
                rules: keys.rules(),
                rounds: rounds_of((keys.rounds, keys.samples), &found.answers),
                first: Funnel::default(),
                later: Vec::new(),
                name: found.cell.id(),
            };
            let counts = |round| Funnel::of(&cell.judged(round), TaskGroup::All, &cell.rules);
            let (first, later) = (counts(FIRST_ROUND), cell.rounds().skip(1).map(counts).collect());
            (cell.first, cell.later) = (first, later);
            cell
        };
        report.cells.iter().map(cell).collect()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Who was asked, and how.
    pub(super) const fn who(&self) -> &'r FactorCodeCell {
        &self.found.cell
    }

    /// The rounds, from 1.
    pub(super) fn rounds(&self) -> impl Iterator<Item = u32> + use<> {
        let rounds = u32::try_from(self.rounds.len()).unwrap_or(u32::MAX);
        FIRST_ROUND..=rounds
    }

    /// The verdicts after a round, of all samples of all tasks: a task that ended before keeps its last one.
    pub(super) fn judged(&self, round: u32) -> Vec<JudgedTask<'_>> {
        let samples = of_round(&self.rounds, round).into_iter().flatten();
        let judged = samples.flat_map(|sample| {
            self.world.tasks.iter().filter_map(|task| {
                Some(JudgedTask {
                    id: &task.id,
                    level: task.level,
                    category: task.category,
                    verdict: sample.verdicts.get(&task.id)?.as_ref(),
                })
            })
        });
        judged.collect()
    }

    /// The verdicts on the first answers, of which all is that nobody helped with.
    pub(super) fn first(&self) -> Vec<JudgedTask<'_>> {
        self.judged(FIRST_ROUND)
    }

    /// The counts of all first answers.
    pub(super) const fn funnel(&self) -> &Funnel {
        &self.first
    }

    /// The counts of all tasks after a round.
    pub(super) fn funnel_after(&self, round: u32) -> &Funnel {
        of_round(&self.later, round.saturating_sub(1)).unwrap_or(&self.first)
    }

    /// The rate of first answers that pass all layers by the strict rules: the headline.
    pub(super) fn verified(&self) -> FamilyRate<'_> {
        self.verified_after(FIRST_ROUND)
    }

    /// The same after a round, over all tasks.
    pub(super) fn verified_after(&self, round: u32) -> FamilyRate<'_> {
        self.funnel_after(round)
            .rate(JudgeRule::Strict, LayersPassed::Verified)
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

/// What is held of a round.
fn of_round<T>(rounds: &[T], round: u32) -> Option<&T> {
    rounds.get(usize::try_from(round.checked_sub(FIRST_ROUND)?).ok()?)
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
