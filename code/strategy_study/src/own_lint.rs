//! Lint of a strategy of one's own: its reference runs on every scenario and on the long run.

use crate::error::StrategyError;
use crate::own_strategy::OwnStrategy;
use crate::task::StrategyTask;
use ktd_boxed::BoxLauncher;
use ktd_strategy_code::{
    LONG_RUN, LintFinding, REPETITION_SEEDS, ScenarioOutcome, lint_document, repetition_difference,
    values_at_bounds,
};
use std::collections::BTreeMap;

/// What is wrong with the strategy, whose task has its long run: the reference runs on every scenario and on the long run in
/// the box, at two seeds with the values of the document, and with each tunable one at either bound. None where there is no
/// reference.
///
/// # Errors
/// [`StrategyError::OwnReference`] where the reference does not run, or not always the same; other errors where no box can
/// be had.
pub fn own_findings(
    own: &OwnStrategy,
    launcher: &BoxLauncher,
    task: &StrategyTask,
) -> Result<Vec<LintFinding>, StrategyError> {
    let Some(reference) = own.reference()? else {
        return Ok(Vec::new());
    };
    let is_scenario = |name: &str| own.scenarios.iter().any(|scenario| scenario.name == name);
    let long = task.long();
    let is_drawn = own.scenarios.iter().all(|scenario| scenario.market != *long);
    let markets = || {
        let scenarios = own.scenarios.iter();
        let scenarios = scenarios.map(|scenario| (scenario.name.as_str(), &scenario.market));
        scenarios.chain(is_drawn.then_some((LONG_RUN, long)))
    };
    let defaults = own.document.default_parameters();
    let [seeds, other_seeds, _] = REPETITION_SEEDS;
    let logs = reference.logs((launcher, seeds), (&own.document, &defaults), markets())?;
    let again = reference.logs((launcher, other_seeds), (&own.document, &defaults), markets())?;
    for ((name, first), (_, second)) in logs.iter().zip(&again) {
        if let Some(difference) = repetition_difference(first, second) {
            return Err(StrategyError::OwnReference(format!(
                "the reference of {} does otherwise in {name:?} at another seed: {difference}",
                own.id
            )));
        }
    }
    let outcomes = logs
        .iter()
        .filter(|(name, _)| is_scenario(name))
        .map(|(name, logs)| ((*name).to_owned(), ScenarioOutcome::of(logs)));
    let outcomes: BTreeMap<String, ScenarioOutcome> = outcomes.collect();
    for values in values_at_bounds(&own.document, &defaults) {
        reference.logs((launcher, seeds), (&own.document, &values), markets())?;
    }
    Ok(lint_document(&own.document, &outcomes))
}

/// Refuses a strategy whose lint has findings; what was not done for it says the hint.
pub(crate) fn refuse_findings(
    own: &OwnStrategy,
    launcher: &BoxLauncher,
    task: &StrategyTask,
    not_done: &str,
) -> Result<(), StrategyError> {
    let findings: Vec<String> = own_findings(own, launcher, task)?
        .iter()
        .map(ToString::to_string)
        .collect();
    if findings.is_empty() {
        return Ok(());
    }
    Err(StrategyError::input(
        format_args!(
            "{}: the lint has findings: {}",
            own.folder().display(),
            findings.join("; ")
        ),
        format_args!("fix the folder until `ktd strategy-code lint` finds nothing; {not_done}"),
    ))
}
