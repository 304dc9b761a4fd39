//! Takes one function through all layers: says which runs are needed next, takes their outcomes, ends with a verdict.

use crate::accuracy::{AccuracyFigures, AccuracyRules, DifferingRows, differing_rows};
use crate::casts::twelve_digits;
use crate::error::FactorCodeError;
use crate::feedback::{FeedbackFacts, FeedbackScope};
use crate::gate::{CausalityGate, PUBLISHED_CUTS, SWEPT_CUTS, SafetyVerdict};
use crate::gate_secret::GatedPanels;
use crate::job::{FactorJob, FailureReason, PanelChange, RunColumn, RunFailure, RunOutcome};
use crate::loops::LoopMeasure;
use crate::near_miss::{JudgedColumn, near_miss};
use crate::panel::{FactorPanels, PanelKind};
use crate::reply::{ChosenFunction, ReplyFlag, ReplySource};
use crate::structure::StructureReport;
use crate::syntax::SyntaxFacts;
use crate::task::FactorTask;
use crate::verdict::{CodeExecution, FactorVerdict, JudgeRule, LayersPassed};
use std::collections::{BTreeMap, BTreeSet};

/// A task's right values on every panel.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenColumns(BTreeMap<PanelKind, Vec<f64>>);

impl GoldenColumns {
    /// The values of a task's definition.
    ///
    /// # Errors
    /// [`FactorCodeError::Definition`] where it cannot be computed on a panel.
    pub fn of(task: &FactorTask, panels: &FactorPanels) -> Result<Self, FactorCodeError> {
        let columns = PanelKind::ALL.into_iter().map(|kind| {
            let values = task.definition.evaluate(panels.bars(kind));
            let values = values.map_err(|error| FactorCodeError::Definition {
                id: task.id.to_string(),
                error,
            })?;
            Ok((kind, values))
        });
        columns.collect::<Result<_, _>>().map(Self)
    }

    /// The values on a panel.
    #[must_use]
    pub fn on(&self, panel: PanelKind) -> &[f64] {
        self.0.get(&panel).map_or(&[], Vec::as_slice)
    }
}

/// One function on its way through the layers.
#[derive(Debug, Clone)]
pub struct FactorJudge<'a> {
    task: &'a FactorTask,
    panels: &'a GatedPanels,
    golden: &'a GoldenColumns,
    structure: StructureReport,
    flags: BTreeSet<ReplyFlag>,
    outcomes: BTreeMap<FactorJob, RunOutcome>,
    /// By the number of prefixes.
    published: BTreeMap<u8, CausalityGate<'a>>,
    strict: CausalityGate<'a>,
}

impl<'a> FactorJudge<'a> {
    /// Begins with a reply's source, its syntax tree and the function in it.
    #[must_use]
    pub fn new(
        task: &'a FactorTask,
        panels: &'a GatedPanels,
        golden: &'a GoldenColumns,
        source: &ReplySource,
        facts: &SyntaxFacts,
        function: &ChosenFunction,
    ) -> Self {
        let structure = StructureReport::of(facts, &function.name);
        let flags = [
            (source.was_fenced, ReplyFlag::Markdown),
            (function.is_misnamed, ReplyFlag::Name),
            (!structure.has_docstring, ReplyFlag::NoDocstring),
            (1 < structure.top_functions, ReplyFlag::ManyFunctions),
        ];
        Self {
            task,
            panels,
            golden,
            structure,
            flags: flags
                .into_iter()
                .filter_map(|(holds, flag)| holds.then_some(flag))
                .collect(),
            outcomes: BTreeMap::new(),
            published: SWEPT_CUTS
                .map(|cuts| (cuts, CausalityGate::published(panels.panels(), cuts)))
                .into(),
            strict: CausalityGate::strict(panels, task.warm_up),
        }
    }

    /// The verdict on a source that is no Python, or has no function to call.
    #[must_use]
    pub fn unrun(source: &ReplySource, facts: Option<&SyntaxFacts>, failure: RunFailure) -> FactorVerdict {
        let flags = if source.was_fenced {
            BTreeSet::from([ReplyFlag::Markdown])
        } else {
            BTreeSet::new()
        };
        let structure = facts.map(|facts| StructureReport::of(facts, ""));
        let execution = CodeExecution::Failed { panel: None, failure };
        FactorVerdict::unrun(execution, structure, flags)
    }

    /// The runs that are needed next, in order; they do not depend on each other, but a verdict may make later ones
    /// needless. None once all is known.
    #[must_use]
    pub fn pending(&self) -> Vec<FactorJob> {
        let new = |job: &FactorJob| !self.outcomes.contains_key(job);
        let judged = PanelKind::JUDGED.map(FactorJob::whole);
        if self.first_failure().is_some() {
            return Vec::new();
        }
        if judged.iter().any(new) {
            return judged.into_iter().filter(new).collect();
        }
        let mut wanted = vec![FactorJob::whole(PanelKind::E)];
        if !self.task.definition.reads_calendar() {
            wanted.push(FactorJob::changed(PanelKind::G, PanelChange::Moved));
        }
        wanted.extend(self.counted());
        let published = |cuts: &u8| self.published.get(cuts).map_or(&[][..], CausalityGate::pending);
        wanted.extend(published(&PUBLISHED_CUTS));
        wanted.extend(self.strict.pending());
        wanted.extend(SWEPT_CUTS.iter().flat_map(published));
        let mut named = BTreeSet::new();
        wanted.retain(|job| new(job) && named.insert(*job));
        wanted
    }

    /// The runs whose steps are counted, of a series and of one twice as long.
    fn counted(&self) -> [FactorJob; 2] {
        let rows = self.panels.panels().bars(PanelKind::Y).rows();
        [rows / 2, rows].map(|rows| FactorJob::changed(PanelKind::Y, PanelChange::Counted { rows }))
    }

    /// Takes the outcome of a run.
    pub fn record(&mut self, job: FactorJob, outcome: RunOutcome) {
        self.outcomes.insert(job, outcome);
        for gate in self.published.values_mut().chain([&mut self.strict]) {
            while let Some(outcome) = gate.pending().first().and_then(|next| self.outcomes.get(next)) {
                gate.record(outcome);
            }
        }
    }

    /// The first of the judged panels on which the function failed.
    fn first_failure(&self) -> Option<(PanelKind, &RunFailure)> {
        PanelKind::JUDGED.into_iter().find_map(|panel| {
            let outcome = self.outcomes.get(&FactorJob::whole(panel))?;
            outcome.as_ref().err().map(|failure| (panel, failure))
        })
    }

    fn column(&self, panel: PanelKind) -> Option<&RunColumn> {
        self.outcomes.get(&FactorJob::whole(panel))?.as_ref().ok()
    }

    /// The verdict; a run that was never recorded counts as one that gave nothing.
    #[must_use]
    pub fn verdict(&self, rules: &AccuracyRules) -> FactorVerdict {
        if let Some((panel, failure)) = self.first_failure() {
            let execution = CodeExecution::Failed {
                panel: Some(panel),
                failure: failure.clone(),
            };
            return FactorVerdict::unrun(execution, Some(self.structure.clone()), self.flags.clone());
        }
        let missing = PanelKind::JUDGED
            .into_iter()
            .find(|panel| self.column(*panel).is_none());
        if let Some(panel) = missing {
            let execution = CodeExecution::Failed {
                panel: Some(panel),
                failure: RunFailure::of(FailureReason::NoResult),
            };
            return FactorVerdict::unrun(execution, Some(self.structure.clone()), self.flags.clone());
        }
        let mut verdict = FactorVerdict {
            execution: CodeExecution::Ran,
            published_safety: self.published_safety(PUBLISHED_CUTS),
            denser_safety: SWEPT_CUTS
                .into_iter()
                .filter(|cuts| *cuts != PUBLISHED_CUTS)
                .filter_map(|cuts| Some((cuts, self.published_safety(cuts)?)))
                .collect(),
            safety: self.strict.verdict().cloned(),
            accuracy: self.accuracy(),
            near_miss: None,
            structure: Some(self.structure.clone()),
            loops: self.loops(),
            flags: self.all_flags(),
            is_date_dependent: self.is_date_dependent(),
        };
        if verdict.passes(JudgeRule::Strict, rules) == LayersPassed::Safe {
            verdict.near_miss = Some(near_miss(self.task, &self.judged_columns(), rules));
        }
        verdict
    }

    /// What a writer may get to know of a verdict of this function; none where it passes.
    #[must_use]
    pub fn feedback(&self, verdict: &FactorVerdict, rules: &AccuracyRules) -> Option<FeedbackFacts> {
        let differing = |panel: PanelKind| -> Option<DifferingRows> {
            differing_rows(self.column(panel)?.cells(), self.golden.on(panel), rules)
        };
        FeedbackFacts::of(
            verdict,
            FeedbackScope::Layers,
            self.panels.panels(),
            rules,
            differing,
        )
    }

    /// The values on panel G at every eighth row, for a picture: rounded to the digits that records hold. Empty where it
    /// gave none.
    #[must_use]
    pub fn curve(&self) -> Vec<Option<f64>> {
        let cells = self.column(PanelKind::G).map_or(&[][..], RunColumn::cells);
        curve_of(cells)
    }

    fn published_safety(&self, cuts: u8) -> Option<SafetyVerdict> {
        self.published.get(&cuts)?.verdict().cloned()
    }

    fn loops(&self) -> Option<LoopMeasure> {
        let [short, long] = self.counted();
        let run = |job: FactorJob| match job.change {
            PanelChange::Counted { rows } => Some((rows, self.outcomes.get(&job)?)),
            PanelChange::Whole
            | PanelChange::Cut { .. }
            | PanelChange::Changed { .. }
            | PanelChange::Moved => None,
        };
        Some(LoopMeasure::of([run(short)?, run(long)?]))
    }

    fn accuracy(&self) -> BTreeMap<PanelKind, AccuracyFigures> {
        let panels = PanelKind::ALL.into_iter();
        let figures = panels.filter_map(|panel| {
            let cells = self.column(panel)?.cells();
            let figures = AccuracyFigures::of(cells, self.golden.on(panel), self.task.warm_up);
            Some((panel, figures))
        });
        figures.collect()
    }

    fn all_flags(&self) -> BTreeSet<ReplyFlag> {
        let mut flags = self.flags.clone();
        for column in PanelKind::ALL.into_iter().filter_map(|panel| self.column(panel)) {
            if column.had_infinity() {
                flags.insert(ReplyFlag::Infinite);
            }
            if !column.has_name {
                flags.insert(ReplyFlag::SeriesName);
            }
        }
        flags
    }

    /// Whether values on G change with the dates; a run that fails on moved dates does.
    fn is_date_dependent(&self) -> Option<bool> {
        let moved = self
            .outcomes
            .get(&FactorJob::changed(PanelKind::G, PanelChange::Moved))?;
        let whole = self.column(PanelKind::G)?;
        Some(match moved {
            Ok(moved) => {
                let figures = AccuracyFigures::of(moved.cells(), whole.cells(), 0);
                figures.candidate_rows != figures.golden_rows
                    || figures.common_rows != figures.golden_rows
                    || !are_close(moved.cells(), whole.cells())
            }
            Err(_) => true,
        })
    }

    fn judged_columns(&self) -> Vec<JudgedColumn<'_>> {
        let panels = PanelKind::JUDGED.into_iter();
        let columns = panels.filter_map(|panel| {
            Some(JudgedColumn {
                bars: self.panels.panels().bars(panel),
                candidate: self.column(panel)?.cells(),
                golden: self.golden.on(panel),
            })
        });
        columns.collect()
    }

    /// The strict gate's verdict so far.
    #[must_use]
    pub const fn safety(&self) -> Option<&SafetyVerdict> {
        self.strict.verdict()
    }
}

/// Rows between two points of a curve.
const CURVE_STEP: usize = 8;

/// Every eighth of some values, rounded to the digits that records hold.
#[must_use]
pub fn curve_of(cells: &[f64]) -> Vec<Option<f64>> {
    let shown = cells.iter().step_by(CURVE_STEP);
    shown
        .map(|cell| cell.is_finite().then(|| twelve_digits(*cell)))
        .collect()
}

fn are_close(left: &[f64], right: &[f64]) -> bool {
    let close = |(one, other): (&f64, &f64)| {
        one.is_nan() && other.is_nan() || (one - other).abs() <= 1e-10 * one.abs().max(other.abs())
    };
    left.iter().zip(right).all(close)
}
