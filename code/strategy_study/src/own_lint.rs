//! Lint of a strategy of one's own: its reference runs on every scenario and on the long run.

use crate::error::StrategyError;
use crate::own_strategy::OwnStrategy;
use crate::task::StrategyTask;
use ktd_boxed::BoxLauncher;
use ktd_strategy_code::{
    CandidateLogs, LONG_RUN, LintFinding, ParameterFreedom, ParameterValue, Parameters, REPETITION_SEEDS,
    ScenarioOutcome, StrategyDocument, lint_document, repetition_difference,
};
use std::collections::{BTreeMap, BTreeSet};

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
        .map(|(name, logs)| ((*name).to_owned(), outcome_of(logs)));
    let outcomes: BTreeMap<String, ScenarioOutcome> = outcomes.collect();
    for values in at_bounds(&own.document, &defaults) {
        reference.logs((launcher, seeds), (&own.document, &values), markets())?;
    }
    Ok(lint_document(&own.document, &outcomes))
}

/// Values with one tunable parameter at one of its bounds, for each of them.
fn at_bounds(document: &StrategyDocument, defaults: &Parameters) -> Vec<Parameters> {
    let bounds = document.parameters.iter().filter_map(|(name, parameter)| {
        let ParameterFreedom::Tunable { least, greatest } = parameter.freedom else {
            return None;
        };
        Some([(name, least), (name, greatest)])
    });
    let with = |(name, bound): (&String, f64)| {
        let others = defaults.iter().filter(|(known, _)| known != name);
        let others = others.map(|(known, value)| (known.to_owned(), value.clone()));
        Parameters::new(others.chain([(name.clone(), ParameterValue::Number(bound))]))
    };
    bounds.flatten().map(with).collect()
}

/// The rules that a program's logs name, and whether it did anything.
fn outcome_of(logs: &CandidateLogs) -> ScenarioOutcome {
    let reasons = (0..logs.trades.len()).flat_map(|row| {
        let of = |name| logs.trades.text(name, row).map(str::to_owned);
        [of("reason_entry"), of("reason_exit")]
    });
    let mut fired: BTreeSet<String> = reasons.flatten().collect();
    let signals = || (0..logs.bars.len()).map(|row| logs.bars.text("signal", row).unwrap_or("NONE"));
    if signals().any(|signal| signal == "ADD") {
        fired.insert("ADD".to_owned());
    }
    ScenarioOutcome {
        fired,
        has_traded: signals().any(|signal| signal != "NONE"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_strategy_code::{CandidateTable, DocumentId, LogCell};

    #[test]
    fn rules_are_read_from_the_logs() {
        let texts = |name: &str, words: &[&str]| {
            let cells = words.iter().map(|word| LogCell::Text((*word).to_owned()));
            (name.to_owned(), cells.collect())
        };
        let logs = CandidateLogs {
            trades: CandidateTable::new(vec![
                texts("reason_entry", &["UP"]),
                texts("reason_exit", &["STOP"]),
            ])
            .unwrap(),
            bars: CandidateTable::new(vec![texts("signal", &["NONE", "ADD"])]).unwrap(),
        };
        let outcome = outcome_of(&logs);
        assert_eq!(
            outcome.fired.into_iter().collect::<Vec<_>>(),
            ["ADD", "STOP", "UP"]
        );
        assert!(outcome.has_traded && !outcome_of(&CandidateLogs::default()).has_traded);
    }

    #[test]
    fn every_tunable_value_is_taken_at_both_bounds() {
        let document = StrategyDocument::built_in(DocumentId::S01).unwrap();
        let values = at_bounds(&document, &document.default_parameters());
        let stops = values.iter().map(|values| {
            assert_eq!(document.refused_parameter(values), None);
            let stop = values.iter().find(|(name, _)| *name == "stop_loss_pct");
            stop.unwrap().1.clone()
        });
        let bounds = [0.05, 0.2].map(ParameterValue::Number);
        assert_eq!(stops.collect::<Vec<_>>(), bounds);
    }
}
