//! Who pays for a model's calls, and at which price and rate.

use super::budget::{Budget, Spender};
use super::key_name::KeyName;
use crate::ClientError;
use ktd_bundle::episode_tariff::tariff_of_cell;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::AgentConfig;
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::provider::Provider;
use ktd_record::spending::Spending;
use ktd_record::tariff::Tariff;
use std::path::Path;

/// Agent with its endpoint and the price of its tokens: a cell's, a language attacker's, that of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct PricedAgent<'a> {
    /// The agent.
    pub agent: &'a AgentConfig,
    /// How its model is spoken to.
    pub provider: &'a Provider,
    /// What its tokens cost.
    pub basis: &'a TokenPricing,
}

impl<'a> From<&'a Cell> for PricedAgent<'a> {
    fn from(cell: &'a Cell) -> Self {
        Self {
            agent: &cell.agent,
            provider: &cell.provider,
            basis: &cell.basis,
        }
    }
}

impl PricedAgent<'_> {
    /// The payer of its calls, whose own caps hold under the name `id`.
    #[must_use]
    pub fn payer(self, id: &str) -> Payer {
        let (agent, provider) = (self.agent, self.provider);
        Payer {
            spender: Spender {
                id: id.to_owned(),
                vendor: provider.dialect.id.clone(),
                pays_itself: agent.is_outside(),
            },
            key: KeyName::of(agent, provider),
            tariff: Tariff::new(provider.clone(), self.basis.clone(), agent.max_output_tokens()),
        }
    }
}

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
    /// The payer of a cell's calls.
    #[must_use]
    pub fn of_cell(cell: &Cell) -> Self {
        Self {
            tariff: tariff_of_cell(cell),
            ..PricedAgent::from(cell).payer(&cell.id)
        }
    }

    /// Counts what the exchanges recorded at a path have cost it.
    ///
    /// # Errors
    /// [`ClientError`] when the record cannot be read, and when what it cost is not known.
    pub fn count_recorded(&self, exchanges: &Path, budget: &Budget) -> Result<(), ClientError> {
        if self.spender.pays_itself {
            return Ok(());
        }
        let spent = Spending::expected(exchanges, &self.tariff)?;
        budget.count(
            &self.spender,
            spent.ok_or_else(|| unknown_cost(&self.spender.id))?,
        );
        Ok(())
    }
}

/// A budget that cannot count what was spent of it.
fn unknown_cost(what: &str) -> ClientError {
    ClientError::input(
        format!("there is a budget, but what {what} has cost is not known"),
        "add a row for its model to the price table and write `max_output_tokens`, or move its record away",
    )
}
