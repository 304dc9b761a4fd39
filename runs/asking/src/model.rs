//! Language models at their endpoints.

use crate::AskingError;
use crate::role::AskingRole;
use ktd_agents::{DialectTable, HttpTransport};
use ktd_client::money::PaymentTerms;
use ktd_client::{AskedModel, endpoint};
use ktd_experiment::agent::{AgentConfig, AgentKind};
use ktd_experiment::provider::Provider;
use std::path::Path;

/// A model at its endpoint; where the agent names no temperature, `temperature` is sent if the vendor takes it.
pub(crate) fn asked_model(
    agent: &AgentConfig,
    table: &DialectTable,
    terms: &PaymentTerms,
    (role, temperature): (&AskingRole, Option<f64>),
) -> Result<AskedModel, AskingError> {
    let role = (role.name.as_str(), role.seed);
    if let Some(warm) = with_temperature(agent, temperature)
        && let Ok(provider) = Provider::of(&warm, table)
    {
        return Ok(AskedModel::new(&warm, provider, terms, role));
    }
    let provider = Provider::of(agent, table)?;
    Ok(AskedModel::new(agent, provider, terms, role))
}

/// The endpoint of a model, with its key. `base` is where relative paths start.
///
/// # Errors
/// [`AskingError`] for an agent that is no model, and a key that is missing.
pub fn endpoint_of(asked: &AskedModel, base: &Path) -> Result<HttpTransport, AskingError> {
    let model = asked.agent.model().ok_or_else(|| not_a_model(asked.id()))?;
    Ok(endpoint::http((asked.id(), model), &asked.provider, base)?)
}

fn with_temperature(agent: &AgentConfig, temperature: Option<f64>) -> Option<AgentConfig> {
    let mut warm = agent.clone();
    let AgentKind::Model(model) = &mut warm.kind else {
        return None;
    };
    if model.temperature.is_some() || temperature.is_none() {
        return None;
    }
    model.temperature = temperature;
    Some(warm)
}

/// An agent that cannot be asked.
pub(crate) fn not_a_model(id: &str) -> AskingError {
    AskingError::input(
        format_args!("agent {id:?} is not a language model"),
        "give it `model` and `vendor`: other agents hold no conversation",
    )
}
