//! A language model that is asked outside an episode.

use crate::money::PaymentTerms;
use crate::{Payer, PricedAgent};
use ktd_experiment::config::AgentConfig;
use ktd_experiment::provider::Provider;

/// Language model that is asked outside an episode: as an attacker on a mask, a judge, or a writer of formulas or code.
#[derive(Debug, Clone)]
pub struct AskedModel {
    /// The agent of the configuration.
    pub agent: AgentConfig,
    /// How its endpoint is spoken to.
    pub provider: Provider,
    /// Who pays for its answers.
    pub payer: Payer,
    /// Sent to vendors that take one, where the agent asks for it.
    pub seed: u64,
}

impl AskedModel {
    /// An agent at its endpoint, paid for on these terms. Its spending is counted under `role__id`.
    #[must_use]
    pub fn new(
        agent: &AgentConfig,
        provider: Provider,
        terms: &PaymentTerms,
        (role, seed): (&str, u64),
    ) -> Self {
        let priced = PricedAgent {
            agent,
            provider: &provider,
            basis: &terms.basis(agent, &provider),
        };
        Self {
            agent: agent.clone(),
            payer: priced.payer(&format!("{role}__{}", agent.id)),
            provider,
            seed,
        }
    }

    /// The agent's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.agent.id
    }

    /// The agent with what its tokens cost.
    #[must_use]
    pub const fn priced(&self) -> PricedAgent<'_> {
        PricedAgent {
            agent: &self.agent,
            provider: &self.provider,
            basis: self.payer.tariff.basis(),
        }
    }
}
