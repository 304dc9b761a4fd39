//! A reference strategy of one's own: a Python program, which runs in the box alone.

use crate::box_runs::{PlannedRun, Program, ProgramBox};
use crate::error::StrategyError;
use ktd_boxed::BoxLauncher;
use ktd_sandbox::{BoxLimits, SourceText};
use ktd_strategy_code::{
    CandidateLogs, ParameterValue, Parameters, REPETITION_SEEDS, ReferenceError, ReferenceRun, StrategyBars,
    StrategyContract, StrategyDocument, misplaced_row,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The class that is run.
const CLASS: &str = "Strategy";

/// The reference program of a strategy, and the runs that are known of it.
#[derive(Debug)]
pub(crate) struct ReferenceProgram {
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
            source,
            known: Mutex::default(),
        })
    }

    /// What it does on bars with these names.
    ///
    /// # Errors
    /// [`StrategyError::Reference`] for values that the document refuses, [`StrategyError::OwnReference`] where the program does
    /// not run; other errors where no box can be had.
    pub(crate) fn logs<'m>(
        &self,
        at: (&BoxLauncher, (u32, u32)),
        (document, parameters): (&StrategyDocument, &Parameters),
        markets: impl Iterator<Item = (&'m str, &'m StrategyBars)>,
    ) -> Result<Vec<(&'m str, CandidateLogs)>, StrategyError> {
        if let Some(refused) = document.refused_parameter(parameters) {
            return Err(ReferenceError::Refused(refused.to_owned()).into());
        }
        let (names, markets): (Vec<&str>, Vec<&StrategyBars>) = markets.unzip();
        let outcomes = self.outcomes(at, (document, parameters), &markets)?;
        let logs = names.into_iter().zip(outcomes).map(|(name, outcome)| {
            let logs = outcome.map_err(|problem| {
                let values = words(parameters);
                StrategyError::OwnReference(format!(
                    "the reference of {} fails in {name:?} with {values}: {problem}",
                    document.id
                ))
            });
            Ok((name, logs?))
        });
        logs.collect()
    }

    /// Its logs on each of some bars, or why it has none there. Real bars may have other values than the document allows, such as
    /// the end of their sessions: nothing is refused.
    ///
    /// # Errors
    /// [`StrategyError`] where no box can be had.
    pub(crate) fn outcomes(
        &self,
        (launcher, (seed, hash_seed)): (&BoxLauncher, (u32, u32)),
        (document, parameters): (&StrategyDocument, &Parameters),
        markets: &[&StrategyBars],
    ) -> Result<Vec<Result<CandidateLogs, String>>, StrategyError> {
        let program = Program {
            source: &self.source,
            class: CLASS,
            configuration: &document.configuration(parameters),
            key: &document.id,
            contract: StrategyContract::Run,
        };
        let runs: Vec<PlannedRun> = markets
            .iter()
            .map(|market| PlannedRun {
                market: (*market).clone(),
                seed,
                purpose: "reference",
                is_scored: false,
            })
            .collect();
        let outcomes = ProgramBox::open(launcher, program, hash_seed)?.run_all(&runs)?;
        let read = outcomes.into_iter().zip(markets).map(|(outcome, market)| {
            let logs = outcome.map_err(|fault| fault.to_string())?;
            misplaced_row(&logs.bars, market).map_or(Ok(logs), Err)
        });
        Ok(read.collect())
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
        let [seeds, ..] = REPETITION_SEEDS;
        let mut run = ReferenceRun::default();
        for (name, logs) in self.logs((launcher, seeds), (document, parameters), markets)? {
            run.add(name, logs);
        }
        known().insert(key, run.clone());
        Ok(run)
    }
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
