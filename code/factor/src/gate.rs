//! Layer 2: whether a function looks ahead. A gate is a plan of runs; the first difference among their columns that runs of the
//! same data do not show ends it.

use crate::casts::equal;
use crate::gate_plan::{even_cuts, event_cuts, strict_jobs};
use crate::gate_secret::GatedPanels;
use crate::job::{FactorJob, PanelChange, RunFailure, RunOutcome};
use crate::panel::{FactorPanels, PanelKind, spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which test of look-ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRule {
    /// Prefixes, whose values must be equal to the bit: as it was published.
    Published,
    /// Equal runs, every prefix and changed suffixes of hidden panels: the one that counts.
    Strict,
}

/// How many prefixes the published test takes.
pub const PUBLISHED_CUTS: u8 = 5;
/// How many prefixes it takes in a sweep of thresholds: every second is one of half as many.
pub const SWEPT_CUTS: [u8; 3] = [PUBLISHED_CUTS, 10, 20];

/// The tolerance of the strict gate, of the largest of both values and the spread of the first output.
const TOLERANCE: f64 = 1e-10;

/// Where two columns of one function differ first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    /// It gives nothing on prefixes shorter than these, and the same values as ever on longer ones.
    NeedsRows {
        /// The panel.
        panel: PanelKind,
        /// The fewest rows on which it was seen to give values, or all rows of the panel.
        rows: usize,
    },
    /// It ran on the whole series, and failed on a changed one; no value was seen to change.
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
    pub fn code(&self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Nondeterministic { .. } => "nondeterministic",
            Self::Leak(_) => "leak",
            Self::NeedsRows { .. } => "needs_rows",
            Self::PrefixError { .. } => "prefix_error",
            Self::DoesNotRun { failure, .. } => failure.reason.code(),
        }
    }
}

/// A difference that two more runs must not show on the same data.
#[derive(Debug, Clone, PartialEq)]
struct Suspect {
    evidence: LeakEvidence,
    column: Vec<f64>,
}

/// The runs of a test of look-ahead in order, and what judges them.
#[derive(Debug, Clone, PartialEq)]
pub struct CausalityGate<'p> {
    rule: GateRule,
    /// None for the published test, which takes all panels as they are.
    panels: Option<&'p GatedPanels>,
    /// Prefixes of the strict gate are no shorter.
    least_cut: usize,
    jobs: Vec<FactorJob>,
    next: usize,
    /// The output on the whole of the panel under test, and the tolerance's scale.
    first: Option<(Vec<f64>, f64)>,
    suspect: Option<Suspect>,
    /// The longest prefix without any value, where there are some on the whole; and the shortest one with some.
    silent: Option<LeakEvidence>,
    spoken: Option<usize>,
    /// The first failure on a changed series.
    failed: Option<(PanelKind, PanelChange, RunFailure)>,
    verdict: Option<SafetyVerdict>,
}

impl<'p> CausalityGate<'p> {
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
        Self::of(GateRule::Published, None, jobs.collect(), 0)
    }

    /// The strict gate, whose plan hangs on the secret of the panels; prefixes are longer than the warm-up.
    #[must_use]
    pub fn strict(panels: &'p GatedPanels, warm_up: usize) -> Self {
        const LEAST_CUT: usize = 60;
        let least_cut = LEAST_CUT.max(warm_up + 8);
        let jobs = strict_jobs(panels, least_cut);
        Self::of(GateRule::Strict, Some(panels), jobs, least_cut)
    }

    const fn of(
        rule: GateRule,
        panels: Option<&'p GatedPanels>,
        jobs: Vec<FactorJob>,
        least_cut: usize,
    ) -> Self {
        Self {
            rule,
            panels,
            least_cut,
            jobs,
            next: 0,
            first: None,
            suspect: None,
            silent: None,
            spoken: None,
            failed: None,
            verdict: None,
        }
    }

    /// Which test it is.
    #[must_use]
    pub const fn rule(&self) -> GateRule {
        self.rule
    }

    /// All runs of the plan, in order; what the first outcomes show may add some.
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
        self.verdict = match self.suspect.take() {
            Some(suspect) => self.confirmed(suspect, &job, outcome),
            None => self.judged(&job, outcome),
        };
        if self.verdict.is_none() && self.next == self.jobs.len() {
            self.verdict = Some(self.last_verdict());
        }
    }

    fn judged(&mut self, job: &FactorJob, outcome: &RunOutcome) -> Option<SafetyVerdict> {
        let panel = job.panel;
        let is_first = job.change == PanelChange::Whole && job.repetition == 0;
        let column = match outcome {
            Ok(column) => column.cells(),
            Err(failure) => return self.failed_run(job, is_first, failure),
        };
        if is_first {
            let scale = spread(column.iter().copied());
            if let Some(panels) = self.panels {
                let cuts = event_cuts(panels, panel, column, self.least_cut);
                self.jobs.splice(self.next..self.next, cuts);
            }
            self.first = Some((column.to_vec(), scale));
            return None;
        }
        if job.change == PanelChange::Whole {
            let (first, _) = self.first.as_ref()?;
            let row = first_difference(first, column, has_same_bits)?;
            return Some(SafetyVerdict::Nondeterministic { panel, row });
        }
        self.compared(job, column)
    }

    fn failed_run(&mut self, job: &FactorJob, is_first: bool, failure: &RunFailure) -> Option<SafetyVerdict> {
        let FactorJob { panel, change, .. } = *job;
        // layer 1 has seen it run on panels of the usual length
        if is_first && !PanelKind::HIDDEN.contains(&panel) {
            let failure = failure.clone();
            return Some(SafetyVerdict::DoesNotRun { panel, failure });
        }
        if change == PanelChange::Whole && !is_first {
            return Some(SafetyVerdict::Nondeterministic { panel, row: 0 });
        }
        self.failed
            .get_or_insert_with(|| (panel, change, failure.clone()));
        // of a panel on which it gives nothing there is nothing more to see
        let ends = is_first || self.rule == GateRule::Published;
        ends.then(|| self.last_verdict())
    }

    /// Compares a column of a changed panel with the one of the whole, up to the change.
    fn compared(&mut self, job: &FactorJob, column: &[f64]) -> Option<SafetyVerdict> {
        let FactorJob { panel, change, .. } = *job;
        let (first, scale) = self.first.as_ref()?;
        let rows = match change {
            PanelChange::Whole | PanelChange::Moved => first.len(),
            PanelChange::Cut { rows }
            | PanelChange::Counted { rows }
            | PanelChange::Changed { from: rows, .. } => rows,
        };
        let before = first.get(..rows).unwrap_or(first);
        let now = column.get(..rows).unwrap_or(column);
        let row = match self.rule {
            GateRule::Published => first_difference(before, now, equal),
            GateRule::Strict => first_difference(before, now, |one, other| is_close(one, other, *scale)),
        };
        let has_values = now.iter().any(|cell| !cell.is_nan());
        let is_cut = matches!(change, PanelChange::Cut { .. });
        let Some(row) = row else {
            if is_cut && has_values {
                self.spoken = Some(self.spoken.map_or(rows, |least| least.min(rows)));
            }
            return None;
        };
        let evidence = LeakEvidence { panel, change, row };
        if self.rule == GateRule::Published {
            return Some(SafetyVerdict::Leak(evidence));
        }
        if is_cut && !has_values {
            let longest = self.silent.map_or(0, |silent| cut_rows(silent.change));
            if longest < rows {
                self.silent = Some(evidence);
            }
            return None;
        }
        let column = column.to_vec();
        self.suspect = Some(Suspect { evidence, column });
        let again = |change, repetition| FactorJob {
            panel,
            change,
            repetition,
        };
        let twice = [again(change, 1), again(PanelChange::Whole, 2)];
        self.jobs.splice(self.next..self.next, twice);
        None
    }

    /// Whether runs of the same data differ as well: then it is noise, and says nothing of later rows.
    fn confirmed(
        &mut self,
        suspect: Suspect,
        job: &FactorJob,
        outcome: &RunOutcome,
    ) -> Option<SafetyVerdict> {
        let panel = job.panel;
        let is_whole = job.change == PanelChange::Whole;
        let known = if is_whole {
            self.first.as_ref().map_or(&[][..], |(first, _)| first)
        } else {
            &suspect.column
        };
        let row = match outcome {
            Ok(column) => first_difference(known, column.cells(), has_same_bits),
            Err(_) => Some(0),
        };
        if let Some(row) = row {
            return Some(SafetyVerdict::Nondeterministic { panel, row });
        }
        if is_whole {
            return Some(SafetyVerdict::Leak(suspect.evidence));
        }
        self.suspect = Some(suspect);
        None
    }

    /// The verdict once no value was seen to change.
    fn last_verdict(&self) -> SafetyVerdict {
        if let Some((panel, change, failure)) = self.failed.clone() {
            return SafetyVerdict::PrefixError {
                panel,
                change,
                failure,
            };
        }
        let Some(silent) = self.silent else {
            return SafetyVerdict::Safe;
        };
        let rows = cut_rows(silent.change);
        match self.spoken {
            // values that come and go with the length are no need of rows
            Some(least) if least <= rows => SafetyVerdict::Leak(silent),
            least => SafetyVerdict::NeedsRows {
                panel: silent.panel,
                rows: least.unwrap_or(rows + 1),
            },
        }
    }
}

const fn cut_rows(change: PanelChange) -> usize {
    match change {
        PanelChange::Cut { rows } => rows,
        PanelChange::Whole
        | PanelChange::Changed { .. }
        | PanelChange::Counted { .. }
        | PanelChange::Moved => 0,
    }
}

const fn has_same_bits(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bars::FactorBars;
    use crate::gate_secret::FactorGateSecret;
    use crate::job::{FailureReason, RunColumn};

    type Function = fn(&FactorBars) -> Vec<f64>;

    fn panels() -> GatedPanels {
        gated("a source")
    }

    fn gated(source: &str) -> GatedPanels {
        let open = FactorPanels::new(20_260_401, None).unwrap();
        FactorGateSecret::from_bytes([9; 32])
            .panels(&open, source)
            .unwrap()
    }

    fn judged(
        mut gate: CausalityGate<'_>,
        panels: &GatedPanels,
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
            judged(
                CausalityGate::published(panels.panels(), PUBLISHED_CUTS),
                &panels,
                run,
            ),
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
        let (published, _) = verdicts(|bars| lead(bars.close(), 1));
        let evidence = LeakEvidence {
            panel: PanelKind::G,
            change: PanelChange::Cut { rows: 250 },
            row: 249,
        };
        assert_eq!(published, SafetyVerdict::Leak(evidence));
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
                panel: PanelKind::X,
                row: 0
            }
        );
        let failure = RunFailure::of(FailureReason::Exception);
        let needs = |bars: &FactorBars| {
            if bars.rows() < 300 {
                Err(failure.clone())
            } else {
                RunColumn::new(vec![0.0; bars.rows()], bars.rows(), true)
            }
        };
        let gate = CausalityGate::strict(&panels, 100);
        assert_eq!(judged(gate, &panels, needs).code(), "prefix_error");
        let published = CausalityGate::published(panels.panels(), PUBLISHED_CUTS);
        let never = judged(published, &panels, |_| Err(failure.clone()));
        assert_eq!(
            never,
            SafetyVerdict::DoesNotRun {
                panel: PanelKind::G,
                failure: failure.clone()
            }
        );
    }

    #[test]
    fn the_published_plan_has_the_runs_of_the_text() {
        let panels = panels();
        let swept = SWEPT_CUTS.map(|cuts| CausalityGate::published(panels.panels(), cuts));
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
    }

    #[test]
    fn the_strict_plan_takes_every_row_and_is_another_for_another_source() {
        let (one, other) = (gated("one"), gated("other"));
        let (gate, again) = (CausalityGate::strict(&one, 0), CausalityGate::strict(&one, 0));
        assert_eq!(gate.jobs(), again.jobs());
        assert_ne!(gate.jobs(), CausalityGate::strict(&other, 0).jobs());
        assert!(gate.jobs().len() < 520, "{}", gate.jobs().len());
        let rows = |panels: &GatedPanels, kind| panels.panels().bars(kind).rows();
        for (kind, range) in [(PanelKind::X, 400..425), (PanelKind::Y, 600..1_201)] {
            assert!(range.contains(&rows(&one, kind)) && range.contains(&rows(&other, kind)));
            assert_ne!(one.panels().bars(kind).days(), other.panels().bars(kind).days());
        }
        let looks_at = |row: usize| {
            gate.jobs().iter().any(|job| match job.change {
                PanelChange::Cut { rows } | PanelChange::Changed { from: rows, .. } => {
                    job.panel == PanelKind::X && rows == row
                }
                PanelChange::Whole | PanelChange::Counted { .. } | PanelChange::Moved => false,
            })
        };
        assert!((1..rows(&one, PanelKind::X)).all(looks_at));
        let late = CausalityGate::strict(&one, 252);
        let cut = |job: &FactorJob| matches!(job.change, PanelChange::Cut { rows } if rows < 260);
        assert!(!late.jobs().iter().any(cut));
    }

    /// Right wherever a reader of the published plan would look, right up to 500 rows, and wrong in two rows of a run.
    #[test]
    fn a_reader_of_plans_and_rare_leaks_are_seen() {
        let probed: Function = |bars| {
            let next = lead(bars.close(), 1);
            let is_probed = |row: usize| row % 25 == 24 || 490 < row;
            (0..bars.rows())
                .map(|row| {
                    if is_probed(row) {
                        bars.close()[row]
                    } else {
                        next[row]
                    }
                })
                .collect()
        };
        assert_eq!(codes(probed).1, "leak");
        let long: Function = |bars| match bars.rows() {
            ..=500 => bars.close().to_vec(),
            _ => lead(bars.close(), 1),
        };
        assert_eq!(codes(long), ("safe", "leak"));
        let twice: Function = |bars| {
            let ahead = lead(bars.close(), 1);
            let cells = bars.close().iter().zip(ahead).enumerate();
            cells
                .map(|(row, (now, ahead))| if row % 190 == 117 { ahead } else { *now })
                .collect()
        };
        assert_eq!(codes(twice).1, "leak");
    }

    #[test]
    fn a_need_of_rows_and_rare_noise_are_no_leaks() {
        let needs: Function = |bars| match bars.rows() {
            ..100 => vec![f64::NAN; bars.rows()],
            _ => mean_5(bars),
        };
        let (_, strict) = verdicts(needs);
        assert_eq!(
            strict,
            SafetyVerdict::NeedsRows {
                panel: PanelKind::X,
                rows: 100
            }
        );
        let comes_and_goes: Function = |bars| match bars.rows() % 7 {
            0 => vec![f64::NAN; bars.rows()],
            _ => mean_5(bars),
        };
        assert_eq!(codes(comes_and_goes).1, "leak");
        let panels = panels();
        let mut runs = 0;
        let noise = judged(CausalityGate::strict(&panels, 0), &panels, |bars| {
            runs += 1;
            let shift = if 2 < runs { f64::from(runs) } else { 0.0 };
            RunColumn::new(vec![shift; bars.rows()], bars.rows(), true)
        });
        assert_eq!(noise.code(), "nondeterministic");
    }

    #[test]
    fn columns_without_values_and_of_other_lengths_have_verdicts() {
        assert_eq!(codes(|bars| vec![f64::NAN; bars.rows()]), ("safe", "safe"));
        assert_eq!(
            codes(|bars| vec![1.0; bars.rows().min(300)]),
            ("index", "prefix_error")
        );
    }
}
