//! Runs of a function, as descriptions that go out and outcomes that come back. Who runs them is the caller.

use crate::bars::FactorBars;
use crate::error::FactorCodeError;
use crate::gate_secret::GatedPanels;
use crate::panel::{ChangedColumns, PanelKind, changed, moved};
use crate::step_count::StepCount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is done to a panel before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
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
    Changed {
        /// The first replaced row.
        from: usize,
        /// What of them is another.
        columns: ChangedColumns,
        /// Which draw.
        draw: u8,
    },
    /// The first rows alone, in a run of its own whose calls and turns of loops are counted.
    Counted {
        /// How many.
        rows: usize,
    },
    /// All days are 53 weeks later.
    Moved,
}

/// One run of one function: a process of its own, which remembers no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactorJob {
    /// The panel.
    pub panel: PanelKind,
    /// What is done to it.
    pub change: PanelChange,
    /// 0 for the first run on these data, more for those that must give the same bits.
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
    /// a seed of its own gives two columns, and none that can be known before.
    #[must_use]
    pub fn chance_seed(&self, panels: &GatedPanels) -> u64 {
        panels.stream(&format!("factor-code chance {self:?}")).next_u64()
    }

    /// What the run is for, in a word that records hold.
    #[must_use]
    pub const fn purpose(&self) -> &'static str {
        match self.change {
            PanelChange::Whole if 0 < self.repetition => "repetition",
            PanelChange::Whole => "values",
            PanelChange::Cut { .. } => "truncation",
            PanelChange::Changed { .. } => "perturbation",
            PanelChange::Moved => "dates",
            PanelChange::Counted { .. } => "count",
        }
    }
}

impl GatedPanels {
    /// The bars that a job's function gets.
    ///
    /// # Errors
    /// [`FactorCodeError::Bars`] where a perturbation of extreme prices is not finite.
    pub fn input(&self, job: &FactorJob) -> Result<FactorBars, FactorCodeError> {
        let bars = self.panels().bars(job.panel);
        match job.change {
            PanelChange::Whole => Ok(bars.clone()),
            PanelChange::Cut { rows } | PanelChange::Counted { rows } => Ok(bars.prefix(rows)),
            PanelChange::Changed { from, columns, .. } => {
                let purpose = format!("factor-code change {} {:?}", job.panel.letter(), job.change);
                changed(bars, from, columns, &mut self.stream(&purpose))
            }
            PanelChange::Moved => moved(bars),
        }
    }
}

/// Why a run gave no column: the model's failure. A box that fails is the harness's own and is repeated.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
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
    pub fn code(self) -> &'static str {
        self.into()
    }

    /// The reason of a word.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }
}

/// A run that gave no column.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    /// The steps of a counted run.
    pub count: Option<StepCount>,
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
            count: None,
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
    use crate::gate_secret::FactorGateSecret;
    use crate::panel::FactorPanels;

    fn panels() -> GatedPanels {
        let open = FactorPanels::new(7, None).unwrap();
        FactorGateSecret::from_bytes([3; 32])
            .panels(&open, "a source")
            .unwrap()
    }

    #[test]
    fn a_change_leaves_the_rows_before_it_and_takes_its_columns_alone() {
        let panels = panels();
        let job = |columns, draw| {
            let change = PanelChange::Changed {
                from: 100,
                columns,
                draw,
            };
            FactorJob::changed(PanelKind::R, change)
        };
        let whole = panels.panels().bars(PanelKind::R);
        let all = panels.input(&job(ChangedColumns::All, 0)).unwrap();
        assert_eq!(all.prefix(100), whole.prefix(100));
        assert_eq!(all.days(), whole.days());
        assert_eq!(all, panels.input(&job(ChangedColumns::All, 0)).unwrap());
        assert_ne!(all, panels.input(&job(ChangedColumns::All, 1)).unwrap());
        // each price by a factor of its own
        let factors = [
            all.open()[100] / whole.open()[100],
            all.close()[100] / whole.close()[100],
        ];
        assert!(1e-3 < (factors[0] - factors[1]).abs(), "{factors:?}");
        for (columns, place) in ChangedColumns::SINGLE.into_iter().zip(0..) {
            let changed = panels.input(&job(columns, 0)).unwrap();
            let differs = |column: usize| changed.columns()[column][100..] != whole.columns()[column][100..];
            assert!(differs(place), "{columns:?}");
            // highs and lows follow where another price passed them
            assert!((0..5).all(|other| other == place || matches!(other, 1 | 2) || !differs(other)));
        }
        for (_, bar) in all.iter() {
            assert!(bar.low <= bar.open.min(bar.close) && bar.open.max(bar.close) <= bar.high);
        }
    }

    #[test]
    fn moved_days_keep_their_weekdays_and_infinities_are_missing() {
        let panels = panels();
        let moved = panels
            .input(&FactorJob::changed(PanelKind::G, PanelChange::Moved))
            .unwrap();
        let whole = panels.panels().bars(PanelKind::G);
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
        let panels = panels();
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
