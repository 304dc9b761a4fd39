//! Lint of a document: a strategy that cannot be satisfied, or whose rules never fire, measures nothing.

use crate::document::StrategyDocument;
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
