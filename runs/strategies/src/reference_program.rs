//! A reference strategy of one's own: a Python program, which runs in the box alone.

use crate::box_runs::{PlannedRun, Program, ProgramBox};
use crate::error::StrategyError;
use ktd_boxed::BoxLauncher;
use ktd_sandbox::{BoxLimits, SourceText};
use ktd_strategy_code::{
    CandidateLogs, LONG_RUN, ParameterValue, Parameters, ReferenceError, StrategyBars, StrategyDocument,
    StrategyTraces, candidate_tokens,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The class that is run.
const CLASS: &str = "Strategy";
/// The seed of all runs.
const SEED: u32 = 42;

/// What a reference does on all bars of a task.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReferenceRun {
    pub(crate) traces: StrategyTraces,
    /// Equity after each bar of the long run.
    pub(crate) equity: Vec<f64>,
}

/// The reference program of a strategy, and the runs that are known of it.
#[derive(Debug)]
pub(crate) struct ReferenceProgram {
    path: PathBuf,
    source: SourceText,
    /// Runs on all bars of one task, by the configuration that they were made with.
    known: Mutex<BTreeMap<String, ReferenceRun>>,
}

impl ReferenceProgram {
    /// The program of a file.
    pub(crate) fn new(path: &Path, bytes: &[u8]) -> Result<Self, StrategyError> {
        let source = SourceText::read(bytes, BoxLimits::STRATEGIES.source_kb).map_err(|problem| {
            StrategyError::input(
                format_args!("{}: {problem}", path.display()),
                "fix the reference program, or remove it to go without",
            )
        })?;
        Ok(Self {
            path: path.to_owned(),
            source,
            known: Mutex::default(),
        })
    }

    /// What it does on bars with these names.
    ///
    /// # Errors
    /// [`StrategyError::Reference`] for values that the document refuses; other errors where the program does not run, and
    /// where no box can be had.
    pub(crate) fn logs<'m>(
        &self,
        launcher: &BoxLauncher,
        (document, parameters): (&StrategyDocument, &Parameters),
        markets: impl Iterator<Item = (&'m str, &'m StrategyBars)>,
    ) -> Result<Vec<(&'m str, CandidateLogs)>, StrategyError> {
        if let Some(refused) = document.refused_parameter(parameters) {
            return Err(ReferenceError::Refused(refused.to_owned()).into());
        }
        let program = Program {
            source: &self.source,
            class: CLASS,
            configuration: &document.configuration(parameters),
            key: &document.id,
        };
        let (names, runs): (Vec<&str>, Vec<PlannedRun>) = markets
            .map(|(name, market)| {
                let run = PlannedRun {
                    market: market.clone(),
                    seed: SEED,
                    purpose: "reference",
                };
                (name, run)
            })
            .unzip();
        let outcomes = ProgramBox::open(launcher, program, 0)?.run_all(&runs)?;
        let logs = names.into_iter().zip(outcomes).map(|(name, outcome)| {
            let logs = outcome.map_err(|fault| {
                let path = self.path.display();
                let values = words(parameters);
                StrategyError::input(
                    format_args!("{path}: it fails in {name:?} with {values}: {fault}"),
                    "fix the reference program: it must run on all scenarios and on the long run, with every value that a \
                     model may choose; a scenario named \"long\" stands for the long run",
                )
            })?;
            Ok((name, logs))
        });
        logs.collect()
    }

    /// What it does on the bars of a task, always the same ones; it runs once for the same parameters.
    pub(crate) fn run<'m>(
        &self,
        launcher: &BoxLauncher,
        (document, parameters): (&StrategyDocument, &Parameters),
        markets: impl Iterator<Item = (&'m str, &'m StrategyBars)>,
    ) -> Result<ReferenceRun, StrategyError> {
        let key = document.configuration(parameters).to_string();
        // Never held while a box works: two threads may make the same run, and none waits for the other's box.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = known().get(&key) {
            return Ok(run.clone());
        }
        let mut run = ReferenceRun::default();
        for (name, logs) in self.logs(launcher, (document, parameters), markets)? {
            if name == LONG_RUN {
                run.equity = equity_of(&logs);
            }
            run.traces.insert(name.to_owned(), candidate_tokens(&logs.bars));
        }
        known().insert(key, run.clone());
        Ok(run)
    }
}

/// Equity after each bar; no number where the log says none.
pub(crate) fn equity_of(logs: &CandidateLogs) -> Vec<f64> {
    let bars = &logs.bars;
    let rows = 0..bars.len();
    rows.map(|row| bars.number("equity", row).unwrap_or(f64::NAN))
        .collect()
}

/// Values as words.
fn words(parameters: &Parameters) -> String {
    let values = parameters.iter().map(|(name, value)| match value {
        ParameterValue::Number(number) => format!("{name} = {number}"),
        ParameterValue::Text(text) => format!("{name} = {text:?}"),
    });
    let values: Vec<String> = values.collect();
    if values.is_empty() {
        "no parameter".to_owned()
    } else {
        values.join(", ")
    }
}
