//! Who pays for a model's calls, and at which price and rate.

use crate::money::Spender;
use crate::money::rate_gate::KeyName;
use ktd_bundle::tariff::Tariff;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::AgentConfig;
use ktd_experiment::price_table::Basis;
use ktd_experiment::provider::Provider;

/// Who pays for a model's calls: the caps that hold, the key whose rates hold, and the price. All that is asked is asked in
/// the name of a payer: an episode's cell, a language attacker, a measurement.
#[derive(Debug, Clone)]
pub struct Payer {
    /// Whose caps hold.
    pub spender: Spender,
    /// Whose rates hold.
    pub key: KeyName,
    /// What tokens cost, and the most that a reply may have.
    pub tariff: Tariff,
}

impl Payer {
    /// An agent that asks under a name of its own.
    #[must_use]
    pub fn new(id: &str, agent: &AgentConfig, provider: &Provider, basis: Basis) -> Self {
        Self {
            spender: Spender {
                id: id.to_owned(),
                vendor: provider.dialect.id.clone(),
            },
            key: KeyName::of(agent, provider),
            tariff: Tariff::new(provider.clone(), basis, agent.max_output_tokens()),
        }
    }

    /// The payer of a cell's calls.
    #[must_use]
    pub fn of_cell(cell: &Cell) -> Self {
        Self {
            tariff: Tariff::of_cell(cell),
            ..Self::new(&cell.id, &cell.agent, &cell.provider, cell.basis.clone())
        }
    }
}
