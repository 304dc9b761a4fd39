//! Cohorts: models, predictors, rules, built-in agents and controls are compared apart.

use super::record::Cohort;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_experiment::agent::{AgentCohort, AgentConfig, AgentKind};

/// What an episode's agent is.
pub(super) fn cohort(found: &BundleRef) -> Cohort {
    of_agent(&found.header.agent)
}

fn of_agent(agent: &AgentConfig) -> Cohort {
    match &agent.kind {
        _ if agent.is_control() => Cohort::Control,
        AgentKind::Control(_) => Cohort::Learned,
        AgentKind::Builtin(_) => Cohort::Builtin,
        AgentKind::Model(_) => named(agent).unwrap_or(Cohort::Model),
        AgentKind::Program(_) | AgentKind::Client(_) => named(agent).unwrap_or(Cohort::Outside),
    }
}

/// The cohort that an agent's settings name.
fn named(agent: &AgentConfig) -> Option<Cohort> {
    Some(match agent.cohort? {
        AgentCohort::LanguageModel => Cohort::Model,
        AgentCohort::MachineLearning => Cohort::Learned,
        AgentCohort::Rule => Cohort::Rule,
        AgentCohort::Control => Cohort::Control,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(keys: &Value) -> Cohort {
        of_agent(&serde_json::from_value(keys.clone()).unwrap())
    }

    #[test]
    fn what_tests_the_harness_is_a_control() {
        for name in ["cheater", "schema-breaker", "hold"] {
            assert_eq!(
                of(&json!({ "id": "a", "builtin": name })),
                Cohort::Control,
                "{name}"
            );
        }
        assert_eq!(of(&json!({ "id": "a", "control": "oracle" })), Cohort::Control);
        let signals = json!({ "id": "a", "control": "signals", "scores": "s.csv", "strategy": "top20" });
        assert_eq!(of(&signals), Cohort::Learned);
        assert_eq!(of(&json!({ "id": "a", "builtin": "momentum" })), Cohort::Builtin);
    }

    #[test]
    fn an_outside_agent_is_what_it_names_and_no_language_model_unless_it_does() {
        assert_eq!(of(&json!({ "id": "a", "command": ["x"] })), Cohort::Outside);
        assert_eq!(of(&json!({ "id": "a", "external": "mcp" })), Cohort::Outside);
        assert_eq!(
            of(&json!({ "id": "a", "model": "m", "vendor": "qwen" })),
            Cohort::Model
        );
        for (name, cohort) in [
            ("language-model", Cohort::Model),
            ("machine-learning", Cohort::Learned),
            ("rule", Cohort::Rule),
            ("control", Cohort::Control),
        ] {
            assert_eq!(
                of(&json!({ "id": "a", "command": ["x"], "cohort": name })),
                cohort
            );
        }
    }
}
