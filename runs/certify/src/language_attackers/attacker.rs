//! A language model as an attacker.

use ktd_client::money::PaymentTerms;
use ktd_client::{Payer, PricedAgent};
use ktd_experiment::config::AgentConfig;
use ktd_experiment::provider::Provider;

/// Language model as an attacker.
#[derive(Debug, Clone)]
pub struct LanguageAttacker {
    pub(super) agent: AgentConfig,
    /// How its model is spoken to.
    pub(super) provider: Provider,
    /// Who pays for its answers.
    pub(super) payer: Payer,
    /// Sent to vendors that take one, where the agent asks for it.
    pub(super) seed: u64,
}

impl LanguageAttacker {
    /// An agent at its endpoint, paid for on these terms.
    pub(super) fn new(agent: &AgentConfig, provider: Provider, terms: &PaymentTerms, seed: u64) -> Self {
        let priced = PricedAgent {
            agent,
            provider: &provider,
            basis: &terms.basis(agent, &provider),
        };
        Self {
            agent: agent.clone(),
            payer: priced.payer(&format!("attacker__{}", agent.id)),
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
    pub(super) const fn priced(&self) -> PricedAgent<'_> {
        PricedAgent {
            agent: &self.agent,
            provider: &self.provider,
            basis: self.payer.tariff.basis(),
        }
    }
}
