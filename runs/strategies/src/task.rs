//! A strategy document and the bars on which programs of it are judged.

use crate::error::StrategyError;
use ktd_strategy_code::{
    DocumentId, INITIAL_CAPITAL, LONG_RUN, Parameters, Scenario, StrategyBars, StrategyDocument,
    StrategyTraces, run_reference, scenarios, trace_tokens,
};

/// The published seed of scenarios and long runs.
pub const SCENARIO_SEED: u64 = 20_260_400;

/// A document, its scenarios, and its long run.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyTask {
    /// Which document.
    pub id: DocumentId,
    /// Its machine form.
    pub document: StrategyDocument,
    scenarios: Vec<Scenario>,
    long: StrategyBars,
}

impl StrategyTask {
    /// A document that comes with the benchmark, on bars drawn from a seed.
    ///
    /// # Errors
    /// [`StrategyError::Scenario`] where no draw does what a scenario is there for.
    pub fn drawn(id: DocumentId, seed: u64) -> Result<Self, StrategyError> {
        let document = StrategyDocument::built_in(id).map_err(StrategyError::invalid)?;
        let drawn = scenarios(id, &document.default_parameters(), seed)?;
        Self::with_scenarios(id, drawn)
    }

    /// A document that comes with the benchmark, on given bars.
    ///
    /// # Errors
    /// [`StrategyError::Input`] without a long run among them.
    pub fn with_scenarios(id: DocumentId, mut all: Vec<Scenario>) -> Result<Self, StrategyError> {
        let document = StrategyDocument::built_in(id).map_err(StrategyError::invalid)?;
        let Some(place) = all.iter().position(|scenario| scenario.name == LONG_RUN) else {
            return Err(StrategyError::invalid(format!(
                "{id} has no scenario {LONG_RUN:?}"
            )));
        };
        let long = all.remove(place).market;
        Ok(Self {
            id,
            document,
            scenarios: all,
            long,
        })
    }

    /// The bars of gates and stress.
    #[must_use]
    pub const fn long(&self) -> &StrategyBars {
        &self.long
    }

    /// The scenarios without the long run.
    #[must_use]
    pub fn scenarios(&self) -> &[Scenario] {
        &self.scenarios
    }

    /// All bars with a trace, by name: the scenarios, then the long run.
    pub fn markets(&self) -> impl Iterator<Item = (&str, &StrategyBars)> {
        let scenarios = self.scenarios.iter();
        scenarios
            .map(|scenario| (scenario.name.as_str(), &scenario.market))
            .chain([(LONG_RUN, &self.long)])
    }

    /// The traces of the reference strategy with these parameters.
    ///
    /// # Errors
    /// [`StrategyError::Reference`] where a parameter is missing.
    pub fn reference_traces(&self, parameters: &Parameters) -> Result<StrategyTraces, StrategyError> {
        self.markets()
            .map(|(name, market)| {
                let logs = run_reference(self.id, parameters, market, INITIAL_CAPITAL)?;
                Ok((name.to_owned(), trace_tokens(&logs)))
            })
            .collect()
    }

    /// The equity of the reference strategy with these parameters after each bar of the long run.
    ///
    /// # Errors
    /// As [`Self::reference_traces`].
    pub fn reference_equity(&self, parameters: &Parameters) -> Result<Vec<f64>, StrategyError> {
        let logs = run_reference(self.id, parameters, &self.long, INITIAL_CAPITAL)?;
        Ok(logs.bars.iter().map(|bar| bar.equity).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_strategy_code::{BreachReport, CandidateLogs, Stress};

    #[test]
    fn references_break_no_constraint_on_distorted_bars() {
        for id in DocumentId::ALL {
            let task = StrategyTask::drawn(id, SCENARIO_SEED).unwrap();
            let parameters = task.document.default_parameters();
            for stress in Stress::ALL {
                let market = stress.apply(task.long());
                let logs = run_reference(id, &parameters, &market, INITIAL_CAPITAL).unwrap();
                let logs = CandidateLogs::of_reference(&logs, &task.document.columns);
                let report = BreachReport::of(&logs, &market, &task.document, &parameters);
                assert_eq!(report.breaches, [], "{id} under {}", stress.label());
            }
        }
    }
}
