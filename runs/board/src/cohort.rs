//! Cohorts: models, built-in agents and controls are ranked apart.

use super::record::Cohort;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_experiment::agent::AgentKind;

/// What an episode's agent is.
pub(super) fn cohort(found: &BundleRef) -> Cohort {
    match &found.header.agent.kind {
        AgentKind::Control(_) => Cohort::Control,
        AgentKind::Builtin(_) => Cohort::Builtin,
        AgentKind::Model(_) | AgentKind::Program(_) | AgentKind::Client(_) => Cohort::Model,
    }
}
