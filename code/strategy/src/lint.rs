//! Lint of a document: a strategy that cannot be satisfied, or whose rules never fire, measures nothing.

use crate::candidate::CandidateLogs;
use crate::document::{ParameterFreedom, StrategyDocument};
use crate::parameters::{ParameterValue, Parameters};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What is wrong with a document and its scenarios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LintFinding {
    /// A rule that fires in no scenario.
    SilentRule(String),
    /// A rule that fires and that the document does not name.
    UnnamedRule {
        /// The rule.
        rule: String,
        /// A scenario in which it fires.
        scenario: String,
    },
    /// There is no scenario without a trade, so that a program that always trades is not seen.
    NoQuietScenario,
    /// The document names no rule.
    NoRules,
}

impl fmt::Display for LintFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SilentRule(rule) => write!(
                formatter,
                "the rule {rule} fires in no scenario; add a scenario for it, or remove it from the document"
            ),
            Self::UnnamedRule { rule, scenario } => write!(
                formatter,
                "the reference trades for {rule:?} in {scenario:?}, which the document does not name"
            ),
            Self::NoQuietScenario => {
                formatter.write_str("every scenario has a trade; add one in which no rule holds")
            }
            Self::NoRules => {
                formatter.write_str("the document names no rule; write each as `NAME: condition`")
            }
        }
    }
}

/// What the reference did in a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScenarioOutcome {
    /// Rules that fired.
    pub fired: BTreeSet<String>,
    /// Whether it held or closed anything.
    pub has_traded: bool,
}

impl ScenarioOutcome {
    /// The rules that a program's logs name, and whether it did anything.
    #[must_use]
    pub fn of(logs: &CandidateLogs) -> Self {
        let reasons = (0..logs.trades.len()).flat_map(|row| {
            let of = |name| logs.trades.text(name, row).map(str::to_owned);
            [of("reason_entry"), of("reason_exit")]
        });
        let mut fired: BTreeSet<String> = reasons.flatten().collect();
        let signals = || (0..logs.bars.len()).map(|row| logs.bars.text("signal", row).unwrap_or("NONE"));
        if signals().any(|signal| signal == "ADD") {
            fired.insert("ADD".to_owned());
        }
        Self {
            fired,
            has_traded: signals().any(|signal| signal != "NONE"),
        }
    }
}

/// Findings on a document, from what its reference did by scenario.
#[must_use]
pub fn lint_document(
    document: &StrategyDocument,
    outcomes: &BTreeMap<String, ScenarioOutcome>,
) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    if document.rules.is_empty() {
        findings.push(LintFinding::NoRules);
    }
    let fires = |rule: &String| outcomes.values().any(|outcome| outcome.fired.contains(rule));
    let silent = document.rules.iter().filter(|rule| !fires(rule));
    findings.extend(silent.map(|rule| LintFinding::SilentRule(rule.clone())));
    let mut known: BTreeSet<&String> = document.rules.iter().collect();
    for (scenario, outcome) in outcomes {
        for rule in &outcome.fired {
            if known.insert(rule) {
                findings.push(LintFinding::UnnamedRule {
                    rule: rule.clone(),
                    scenario: scenario.clone(),
                });
            }
        }
    }
    if outcomes.values().all(|outcome| outcome.has_traded) {
        findings.push(LintFinding::NoQuietScenario);
    }
    findings
}

/// Values with one tunable parameter at one of its bounds, for each of them.
#[must_use]
pub fn values_at_bounds(document: &StrategyDocument, defaults: &Parameters) -> Vec<Parameters> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{CandidateTable, LogCell};
    use crate::reference::DocumentId;

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
        let outcome = ScenarioOutcome::of(&logs);
        assert_eq!(
            outcome.fired.into_iter().collect::<Vec<_>>(),
            ["ADD", "STOP", "UP"]
        );
        assert!(outcome.has_traded && !ScenarioOutcome::of(&CandidateLogs::default()).has_traded);
    }

    #[test]
    fn every_tunable_value_is_taken_at_both_bounds() {
        let document = StrategyDocument::built_in(DocumentId::S01).unwrap();
        let values = values_at_bounds(&document, &document.default_parameters());
        let stops = values.iter().map(|values| {
            assert_eq!(document.refused_parameter(values), None);
            let stop = values.iter().find(|(name, _)| *name == "stop_loss_pct");
            stop.unwrap().1.clone()
        });
        let bounds = [0.05, 0.2].map(ParameterValue::Number);
        assert_eq!(stops.collect::<Vec<_>>(), bounds);
    }
}
