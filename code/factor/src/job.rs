//! Runs of a function, as descriptions that go out and outcomes that come back. Who runs them is the caller.

use crate::bars::FactorBars;
use crate::error::FactorCodeError;
use crate::panel::{FactorPanels, PanelKind, moved, perturbed};
use ktd_env::KeyedStream;
use serde::{Deserialize, Serialize};

/// What is done to a panel before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelChange {
    /// Nothing.
    Whole,
    /// The first rows alone are a series of their own.
    Cut {
        /// How many.
        rows: usize,
    },
    /// The rows from one on are replaced by others, which begin with a jump.
    Perturbed {
        /// The first replaced row.
        from: usize,
        /// Whether prices jump up or down.
        upward: bool,
    },
    /// All days are 53 weeks later.
    Moved,
}

/// The logarithm of a perturbation's jump.
const JUMP: f64 = 0.2;

/// One run of one function: a process of its own, which remembers no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactorJob {
    /// The panel.
    pub panel: PanelKind,
    /// What is done to it.
    pub change: PanelChange,
    /// 0 for the first run on these data, 1 for the one that must give the same bits.
    pub repetition: u8,
}

impl FactorJob {
    /// The first run on a panel as it is.
    #[must_use]
    pub const fn whole(panel: PanelKind) -> Self {
        Self::changed(panel, PanelChange::Whole)
    }

    /// The first run on a changed panel.
    #[must_use]
    pub const fn changed(panel: PanelKind, change: PanelChange) -> Self {
        Self {
            panel,
            change,
            repetition: 0,
        }
    }

    /// The seed of Python's and numpy's own chance in the run. Each run has another, so that a function that draws without
    /// a seed of its own gives two columns.
    #[must_use]
    pub fn chance_seed(&self, panels: &FactorPanels) -> u64 {
        let purpose = format!("factor-code chance {self:?}");
        KeyedStream::for_purpose(panels.seed(), &purpose).next_u64()
    }

    /// What the run is for, in a word that records hold.
    #[must_use]
    pub const fn purpose(&self) -> &'static str {
        match self.change {
            PanelChange::Whole if 0 < self.repetition => "repetition",
            PanelChange::Whole => "values",
            PanelChange::Cut { .. } => "truncation",
            PanelChange::Perturbed { .. } => "perturbation",
            PanelChange::Moved => "dates",
        }
    }
}

impl FactorPanels {
    /// The bars that a job's function gets.
    ///
    /// # Errors
    /// [`FactorCodeError::Bars`] where a perturbation of extreme prices is not finite.
    pub fn input(&self, job: &FactorJob) -> Result<FactorBars, FactorCodeError> {
        let bars = self.bars(job.panel);
        match job.change {
            PanelChange::Whole => Ok(bars.clone()),
            PanelChange::Cut { rows } => Ok(bars.prefix(rows)),
            PanelChange::Perturbed { from, upward } => {
                let jump = if upward { JUMP } else { -JUMP };
                let purpose = format!(
                    "factor-code perturbation {} {from} {}",
                    job.panel.letter(),
                    if upward { "up" } else { "down" }
                );
                perturbed(
                    bars,
                    from,
                    jump,
                    &mut KeyedStream::for_purpose(self.seed(), &purpose),
                )
            }
            PanelChange::Moved => moved(bars),
        }
    }
}

/// Why a run gave no column: the model's failure. A box that fails is the harness's own and is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The source is no Python.
    Syntax,
    /// There is no function to call.
    NoFunction,
    /// A module that is not there.
    Import,
    /// An exception.
    Exception,
    /// The result is no Series.
    NotSeries,
    /// The result is on another index.
    Index,
    /// The values are no numbers.
    Dtype,
    /// The wall clock's limit.
    Timeout,
    /// The limit of processor time.
    Cpu,
    /// The limit of memory.
    Memory,
    /// Too much was printed.
    Flood,
    /// The process was ended by a signal.
    Signal,
    /// The runner was lost whenever it ran.
    RunnerLost,
    /// The process ended without a result.
    NoResult,
    /// The result is not of its form.
    BadResult,
}

impl FailureReason {
    /// All of them, in the order in which they are looked for.
    pub const ALL: [Self; 15] = [
        Self::Syntax,
        Self::NoFunction,
        Self::Import,
        Self::Exception,
        Self::NotSeries,
        Self::Index,
        Self::Dtype,
        Self::Timeout,
        Self::Cpu,
        Self::Memory,
        Self::Flood,
        Self::Signal,
        Self::RunnerLost,
        Self::NoResult,
        Self::BadResult,
    ];

    /// The word that records hold.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::NoFunction => "no_function",
            Self::Import => "import",
            Self::Exception => "exception",
            Self::NotSeries => "not_series",
            Self::Index => "index",
            Self::Dtype => "dtype",
            Self::Timeout => "timeout",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Flood => "flood",
            Self::Signal => "signal",
            Self::RunnerLost => "runner_lost",
            Self::NoResult => "no_result",
            Self::BadResult => "bad_result",
        }
    }

    /// The reason of a word.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }
}

/// A run that gave no column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFailure {
    /// Why.
    pub reason: FailureReason,
    /// The class of the exception, if there was one.
    pub class: Option<String>,
    /// Its message, free of paths.
    pub message: Option<String>,
    /// The line of the source.
    pub line: Option<usize>,
}

impl RunFailure {
    /// A failure of which nothing more is known.
    #[must_use]
    pub const fn of(reason: FailureReason) -> Self {
        Self {
            reason,
            class: None,
            message: None,
            line: None,
        }
    }
}

/// A column that a run gave.
#[derive(Debug, Clone, PartialEq)]
pub struct RunColumn {
    cells: Vec<f64>,
    had_infinity: bool,
    /// Whether the series has the function's name.
    pub has_name: bool,
}

impl RunColumn {
    /// A column's numbers; infinities become missing.
    ///
    /// # Errors
    /// [`FailureReason::Index`] where there are more or fewer numbers than rows.
    pub fn new(mut cells: Vec<f64>, rows: usize, has_name: bool) -> RunOutcome {
        if cells.len() != rows {
            return Err(RunFailure::of(FailureReason::Index));
        }
        let mut had_infinity = false;
        for cell in &mut cells {
            if cell.is_infinite() {
                had_infinity = true;
                *cell = f64::NAN;
            }
        }
        Ok(Self {
            cells,
            had_infinity,
            has_name,
        })
    }

    /// The numbers, one a row, NaN where missing.
    #[must_use]
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// Whether a number was infinite.
    #[must_use]
    pub const fn had_infinity(&self) -> bool {
        self.had_infinity
    }
}

/// What a run gave.
pub type RunOutcome = Result<RunColumn, RunFailure>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perturbation_leaves_the_rows_before_it() {
        let panels = FactorPanels::new(7, None).unwrap();
        let job = |from, upward| FactorJob::changed(PanelKind::R, PanelChange::Perturbed { from, upward });
        let whole = panels.bars(PanelKind::R);
        let up = panels.input(&job(100, true)).unwrap();
        let down = panels.input(&job(100, false)).unwrap();
        assert_eq!(up.prefix(100), whole.prefix(100));
        assert_eq!(up.days(), whole.days());
        assert!((100..500).all(|row| up.close()[row].to_bits() != whole.close()[row].to_bits()));
        assert!(whole.close()[100] < up.close()[100] && down.close()[100] < whole.close()[100]);
        assert_eq!(up, panels.input(&job(100, true)).unwrap());
    }

    #[test]
    fn moved_days_keep_their_weekdays_and_infinities_are_missing() {
        let panels = FactorPanels::new(7, None).unwrap();
        let moved = panels
            .input(&FactorJob::changed(PanelKind::G, PanelChange::Moved))
            .unwrap();
        let whole = panels.bars(PanelKind::G);
        assert!(
            moved
                .days()
                .iter()
                .zip(whole.days())
                .all(|(new, old)| new.weekday() == old.weekday() && old < new)
        );
        assert_eq!(moved.close(), whole.close());
        let column = RunColumn::new(vec![1.0, f64::NEG_INFINITY], 2, true).unwrap();
        assert_eq!(
            RunColumn::new(vec![1.0], 2, true),
            Err(RunFailure::of(FailureReason::Index))
        );
        assert!(column.had_infinity() && column.cells()[1].is_nan());
    }

    #[test]
    fn every_run_has_chance_of_its_own() {
        let panels = FactorPanels::new(7, None).unwrap();
        let first = FactorJob::whole(PanelKind::G);
        let second = FactorJob {
            repetition: 1,
            ..first
        };
        assert_ne!(first.chance_seed(&panels), second.chance_seed(&panels));
        assert_eq!(first.chance_seed(&panels), first.chance_seed(&panels));
    }

    #[test]
    fn a_code_stands_for_one_reason() {
        for reason in FailureReason::ALL {
            assert_eq!(FailureReason::of_code(reason.code()), Some(reason));
        }
    }
}
