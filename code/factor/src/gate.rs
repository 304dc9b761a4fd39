//! Layer 2: whether a function looks ahead. A gate is a plan of runs; the first difference among their columns ends it.

use crate::bars::FactorBars;
use crate::casts::equal;
use crate::job::{FactorJob, PanelChange, RunFailure, RunOutcome};
use crate::panel::{FactorPanels, PanelKind, spread};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which test of look-ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRule {
    /// Prefixes, whose values must be equal to the bit: as it was published.
    Published,
    /// Two equal runs, prefixes at the union of several rules, and perturbed suffixes: the one that counts.
    Strict,
}

/// How many prefixes the published test takes.
pub const PUBLISHED_CUTS: u8 = 5;
/// How many prefixes it takes in a sweep of thresholds: every second is one of half as many.
pub const SWEPT_CUTS: [u8; 3] = [PUBLISHED_CUTS, 10, 20];

/// The tolerance of the strict gate, of the largest of both values and the spread of the first output.
const TOLERANCE: f64 = 1e-10;
/// Prefixes of the strict gate are no shorter.
const LEAST_CUT: usize = 60;
/// Where suffixes are replaced first: a warm-up filled from behind shows there.
const EARLY_PERTURBATIONS: [usize; 9] = [1, 2, 3, 5, 8, 13, 21, 34, 55];

/// Where two columns of one function differ first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakEvidence {
    /// The panel.
    pub panel: PanelKind,
    /// What was done to it.
    pub change: PanelChange,
    /// The first row whose value changed.
    pub row: usize,
}

/// What a gate says of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SafetyVerdict {
    /// No value depends on a later row, as far as the gate sees.
    Safe,
    /// Two runs on the same data differ.
    Nondeterministic {
        /// The panel.
        panel: PanelKind,
        /// The first row that differs.
        row: usize,
    },
    /// A value changed with later rows.
    Leak(LeakEvidence),
    /// It ran on the whole series, and failed on a changed one.
    PrefixError {
        /// The panel.
        panel: PanelKind,
        /// What was done to it.
        change: PanelChange,
        /// How it failed.
        failure: RunFailure,
    },
    /// It failed on the whole series: a matter of layer 1.
    DoesNotRun {
        /// The panel.
        panel: PanelKind,
        /// How it failed.
        failure: RunFailure,
    },
}

impl SafetyVerdict {
    /// Whether the function is safe.
    #[must_use]
    pub const fn is_safe(&self) -> bool {
        matches!(self, Self::Safe)
    }

    /// The word that records hold.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Nondeterministic { .. } => "nondeterministic",
            Self::Leak(_) => "leak",
            Self::PrefixError { .. } => "prefix_error",
            Self::DoesNotRun { failure, .. } => failure.reason.code(),
        }
    }
}

/// The runs of a test of look-ahead in order, and what judges them.
#[derive(Debug, Clone, PartialEq)]
pub struct CausalityGate {
    rule: GateRule,
    jobs: Vec<FactorJob>,
    next: usize,
    /// The output on the whole of the panel under test, and the tolerance's scale.
    first: Option<(Vec<f64>, f64)>,
    verdict: Option<SafetyVerdict>,
}

impl CausalityGate {
    /// The published test, on panels G and Q, with as many prefixes.
    #[must_use]
    pub fn published(panels: &FactorPanels, cuts: u8) -> Self {
        let of_panel = |panel: PanelKind| {
            let cuts = even_cuts(panels.bars(panel).rows(), cuts);
            let cuts = cuts.into_iter().map(move |rows| PanelChange::Cut { rows });
            std::iter::once(PanelChange::Whole)
                .chain(cuts)
                .map(move |change| FactorJob::changed(panel, change))
        };
        let jobs = [PanelKind::G, PanelKind::Q].into_iter().flat_map(of_panel);
        Self::of(GateRule::Published, jobs.collect())
    }

    /// The strict gate, on panels G and R; prefixes are longer than the warm-up.
    #[must_use]
    pub fn strict(panels: &FactorPanels, warm_up: usize) -> Self {
        let jobs = [PanelKind::G, PanelKind::R]
            .into_iter()
            .flat_map(|panel| strict_jobs(panel, panels.bars(panel), warm_up));
        Self::of(GateRule::Strict, jobs.collect())
    }

    const fn of(rule: GateRule, jobs: Vec<FactorJob>) -> Self {
        Self {
            rule,
            jobs,
            next: 0,
            first: None,
            verdict: None,
        }
    }

    /// Which test it is.
    #[must_use]
    pub const fn rule(&self) -> GateRule {
        self.rule
    }

    /// All runs of the plan, in order.
    #[must_use]
    pub fn jobs(&self) -> &[FactorJob] {
        &self.jobs
    }

    /// The runs whose outcomes are still needed, in order; none once there is a verdict.
    #[must_use]
    pub fn pending(&self) -> &[FactorJob] {
        match self.verdict {
            Some(_) => &[],
            None => self.jobs.get(self.next..).unwrap_or(&[]),
        }
    }

    /// The verdict, once there is one.
    #[must_use]
    pub const fn verdict(&self) -> Option<&SafetyVerdict> {
        self.verdict.as_ref()
    }

    /// Takes the outcome of the first pending run. Outcomes after the verdict change nothing.
    pub fn record(&mut self, outcome: &RunOutcome) {
        let Some(job) = self.pending().first().copied() else {
            return;
        };
        self.next += 1;
        self.verdict = self.judge(&job, outcome);
        if self.verdict.is_none() && self.next == self.jobs.len() {
            self.verdict = Some(SafetyVerdict::Safe);
        }
    }

    fn judge(&mut self, job: &FactorJob, outcome: &RunOutcome) -> Option<SafetyVerdict> {
        let FactorJob { panel, change, .. } = *job;
        let is_first = change == PanelChange::Whole && job.repetition == 0;
        let column = match outcome {
            Ok(column) => column.cells(),
            Err(failure) if is_first => {
                let failure = failure.clone();
                return Some(SafetyVerdict::DoesNotRun { panel, failure });
            }
            Err(_) if change == PanelChange::Whole => {
                return Some(SafetyVerdict::Nondeterministic { panel, row: 0 });
            }
            Err(failure) => {
                let failure = failure.clone();
                return Some(SafetyVerdict::PrefixError {
                    panel,
                    change,
                    failure,
                });
            }
        };
        if is_first {
            let scale = spread(column.iter().copied());
            self.first = Some((column.to_vec(), scale));
            return None;
        }
        let (first, scale) = self.first.as_ref()?;
        if change == PanelChange::Whole {
            let row = first_difference(first, column, |one, other| one.to_bits() == other.to_bits())?;
            return Some(SafetyVerdict::Nondeterministic { panel, row });
        }
        let compared = match change {
            PanelChange::Whole | PanelChange::Moved => first.len(),
            PanelChange::Cut { rows } | PanelChange::Perturbed { from: rows, .. } => rows,
        };
        let before = first.get(..compared).unwrap_or(first);
        let now = column.get(..compared).unwrap_or(column);
        let row = match self.rule {
            GateRule::Published => first_difference(before, now, equal),
            GateRule::Strict => first_difference(before, now, |one, other| is_close(one, other, *scale)),
        }?;
        Some(SafetyVerdict::Leak(LeakEvidence { panel, change, row }))
    }
}

fn is_close(one: f64, other: f64, scale: f64) -> bool {
    // a column without values has no spread
    let scale = if scale.is_nan() { 0.0 } else { scale };
    (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()).max(scale)
}

/// The first row where two columns differ; missing equals missing.
fn first_difference(one: &[f64], other: &[f64], same: impl Fn(f64, f64) -> bool) -> Option<usize> {
    let differs = |(one, other): (&f64, &f64)| match (one.is_nan(), other.is_nan()) {
        (true, true) => false,
        (false, false) => !same(*one, *other),
        _ => true,
    };
    let row = one.iter().zip(other).position(differs);
    let shorter = one.len().min(other.len());
    row.or((one.len() != other.len()).then_some(shorter))
}

/// As many places from the middle of the rows on, evenly apart: of five, 50, 60, 70, 80 and 90 % of the rows.
fn even_cuts(rows: usize, cuts: u8) -> BTreeSet<usize> {
    let cuts = usize::from(cuts);
    (cuts..2 * cuts).map(|place| rows * place / (2 * cuts)).collect()
}

fn strict_cuts(bars: &FactorBars, warm_up: usize) -> BTreeSet<usize> {
    const EVEN: usize = 60;
    const BORDERS: usize = 6;
    let rows = bars.rows();
    let least = LEAST_CUT.max(warm_up + 8);
    let mut cuts = even_cuts(rows, PUBLISHED_CUTS);
    if least + 1 < rows {
        cuts.extend((0..EVEN).map(|place| least + place * (rows - 1 - least) / (EVEN - 1)));
    }
    cuts.extend(rows.saturating_sub(5)..rows);
    let borders = |differ: fn(&crate::bars::PanelDay, &crate::bars::PanelDay) -> bool| {
        let days = bars.days();
        let pairs = days.iter().zip(days.iter().skip(1)).zip(1..);
        let found: Vec<usize> = pairs
            .filter(|((before, day), _)| differ(before, day))
            .map(|(_, row)| row)
            .collect();
        found.into_iter().rev().take(BORDERS)
    };
    for row in borders(|before, day| before.month() != day.month()) {
        cuts.extend([row, row + 1]);
    }
    cuts.extend(borders(|before, day| before.week() != day.week()));
    cuts.retain(|cut| (least..rows).contains(cut));
    cuts
}

fn perturbed_rows(rows: usize) -> BTreeSet<usize> {
    const EVEN: usize = 33;
    let late = rows.saturating_sub(62);
    let even = (0..EVEN).map(|place| LEAST_CUT + place * late / (EVEN - 1));
    EARLY_PERTURBATIONS
        .into_iter()
        .chain(even)
        .filter(|row| *row < rows)
        .collect()
}

fn strict_jobs(panel: PanelKind, bars: &FactorBars, warm_up: usize) -> Vec<FactorJob> {
    let again = FactorJob {
        repetition: 1,
        ..FactorJob::whole(panel)
    };
    let cuts = strict_cuts(bars, warm_up)
        .into_iter()
        .map(|rows| PanelChange::Cut { rows });
    let perturbations = perturbed_rows(bars.rows())
        .into_iter()
        .flat_map(|from| [true, false].map(|upward| PanelChange::Perturbed { from, upward }));
    [FactorJob::whole(panel), again]
        .into_iter()
        .chain(
            cuts.chain(perturbations)
                .map(|change| FactorJob::changed(panel, change)),
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bars::FactorBars;
    use crate::job::{FailureReason, RunColumn};

    type Function = fn(&FactorBars) -> Vec<f64>;

    fn panels() -> FactorPanels {
        FactorPanels::new(20_260_401, None).unwrap()
    }

    fn judged(
        mut gate: CausalityGate,
        panels: &FactorPanels,
        mut run: impl FnMut(&FactorBars) -> RunOutcome,
    ) -> SafetyVerdict {
        while let Some(job) = gate.pending().first().copied() {
            gate.record(&run(&panels.input(&job).unwrap()));
        }
        gate.verdict().unwrap().clone()
    }

    /// The published and the strict verdict of a function.
    fn verdicts(function: Function) -> (SafetyVerdict, SafetyVerdict) {
        let panels = panels();
        let run = |bars: &FactorBars| RunColumn::new(function(bars), bars.rows(), true);
        (
            judged(CausalityGate::published(&panels, PUBLISHED_CUTS), &panels, run),
            judged(CausalityGate::strict(&panels, 0), &panels, run),
        )
    }

    fn codes(function: Function) -> (&'static str, &'static str) {
        let (published, strict) = verdicts(function);
        (published.code(), strict.code())
    }

    fn lead(cells: &[f64], rows: usize) -> Vec<f64> {
        let missing = std::iter::repeat_n(f64::NAN, rows);
        cells.iter().skip(rows).copied().chain(missing).collect()
    }

    fn mean_5(bars: &FactorBars) -> Vec<f64> {
        crate::fx::FxDefinition::parse("mean(C,5)")
            .unwrap()
            .evaluate(bars)
            .unwrap()
    }

    fn filled_from_behind(bars: &FactorBars) -> Vec<f64> {
        let cells = mean_5(bars);
        let first = cells[4];
        cells
            .into_iter()
            .map(|cell| if cell.is_nan() { first } else { cell })
            .collect()
    }

    #[test]
    fn a_trailing_mean_is_safe_by_both_and_the_next_close_is_not() {
        assert_eq!(codes(mean_5), ("safe", "safe"));
        assert_eq!(codes(|bars| lead(bars.close(), 1)), ("leak", "leak"));
        let (_, strict) = verdicts(|bars| lead(bars.close(), 1));
        let evidence = LeakEvidence {
            panel: PanelKind::G,
            change: PanelChange::Cut { rows: 60 },
            row: 59,
        };
        assert_eq!(strict, SafetyVerdict::Leak(evidence));
    }

    #[test]
    fn a_warm_up_filled_from_behind_is_seen_by_perturbation_alone() {
        assert_eq!(codes(filled_from_behind), ("safe", "leak"));
    }

    #[test]
    fn the_parity_of_the_length_and_rare_events_are_seen() {
        let parity: Function =
            |bars| vec![if bars.rows().is_multiple_of(2) { 1.0 } else { 0.0 }; bars.rows()];
        assert_eq!(codes(parity), ("safe", "leak"));
        let rare: Function = |bars| {
            let next = lead(bars.close(), 1);
            let moves = bars
                .close()
                .iter()
                .zip(next)
                .map(|(now, next)| libm::log(next / now));
            moves
                .map(|step| if step.abs() > 0.15 { step.signum() } else { 0.0 })
                .collect()
        };
        assert_eq!(codes(rare).1, "leak");
    }

    #[test]
    fn noise_of_rounding_is_no_leak_by_the_strict_gate() {
        let noisy: Function = |bars| {
            let shift = f64::from(u32::try_from(bars.rows()).unwrap()) * 1e-16;
            bars.close().iter().map(|close| close * (1.0 + shift)).collect()
        };
        assert_eq!(codes(noisy), ("leak", "safe"));
    }

    #[test]
    fn a_leak_of_a_ten_billionth_of_the_next_close_is_seen() {
        let tiny: Function = |bars| {
            let next = lead(bars.close(), 1);
            let pairs = bars.close().iter().zip(next);
            pairs
                .map(|(now, next)| now * (1.0 + 1e-10 * if next.is_nan() { 0.0 } else { next }))
                .collect()
        };
        assert_eq!(codes(tiny).1, "leak");
    }

    #[test]
    fn two_runs_that_differ_a_failing_prefix_and_a_failing_whole_have_verdicts_of_their_own() {
        let panels = panels();
        let mut runs = 0.0;
        let noise = judged(CausalityGate::strict(&panels, 0), &panels, |bars| {
            runs += 1.0;
            RunColumn::new(vec![runs; bars.rows()], bars.rows(), true)
        });
        assert_eq!(
            noise,
            SafetyVerdict::Nondeterministic {
                panel: PanelKind::G,
                row: 0
            }
        );
        let failure = RunFailure::of(FailureReason::Exception);
        let needs = |bars: &FactorBars| {
            if bars.rows() < 400 {
                Err(failure.clone())
            } else {
                RunColumn::new(vec![0.0; bars.rows()], bars.rows(), true)
            }
        };
        let gate = CausalityGate::strict(&panels, 100);
        assert_eq!(judged(gate, &panels, needs).code(), "prefix_error");
        let never = judged(CausalityGate::published(&panels, PUBLISHED_CUTS), &panels, |_| {
            Err(failure.clone())
        });
        assert_eq!(
            never,
            SafetyVerdict::DoesNotRun {
                panel: PanelKind::G,
                failure: failure.clone()
            }
        );
    }

    #[test]
    fn the_plan_has_the_runs_of_the_text() {
        let panels = panels();
        let swept = SWEPT_CUTS.map(|cuts| CausalityGate::published(&panels, cuts));
        for (gate, cuts) in swept.iter().zip(SWEPT_CUTS) {
            assert_eq!(gate.jobs().len(), 2 * (1 + usize::from(cuts)));
        }
        // a denser test takes all that a sparser one takes
        for (sparser, denser) in swept.iter().zip(&swept[1..]) {
            assert!(sparser.jobs().iter().all(|job| denser.jobs().contains(job)));
        }
        let places: Vec<PanelChange> = swept[0].jobs()[1..6].iter().map(|job| job.change).collect();
        let rows = [250, 300, 350, 400, 450];
        assert_eq!(places, rows.map(|rows| PanelChange::Cut { rows }));
        let strict = CausalityGate::strict(&panels, 0);
        let cuts: Vec<usize> = strict
            .jobs()
            .iter()
            .filter_map(|job| match (job.panel, job.change) {
                (PanelKind::G, PanelChange::Cut { rows }) => Some(rows),
                _ => None,
            })
            .collect();
        assert_eq!(cuts.first(), Some(&60));
        assert!(
            [250, 300, 350, 400, 450, 495, 496, 497, 498, 499]
                .iter()
                .all(|cut| cuts.contains(cut))
        );
        let late = CausalityGate::strict(&panels, 252);
        assert!(
            late.jobs()
                .iter()
                .all(|job| !matches!(job.change, PanelChange::Cut { rows } if rows < 260))
        );
        let perturbed = strict
            .jobs()
            .iter()
            .filter(|job| job.panel == PanelKind::G && job.purpose() == "perturbation");
        assert_eq!(perturbed.count(), 2 * (9 + 33));
    }

    #[test]
    fn columns_without_values_and_of_other_lengths_have_verdicts() {
        assert_eq!(codes(|bars| vec![f64::NAN; bars.rows()]), ("safe", "safe"));
        assert_eq!(codes(|bars| vec![1.0; bars.rows().min(450)]), ("index", "index"));
    }
}
