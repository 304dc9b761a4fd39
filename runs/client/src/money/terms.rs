//! Terms of payment: the price table, the caps and the rates that a file names, and what they hold for which agents.

use super::budget::Budget;
use super::gates::Gates;
use super::key_name::KeyName;
use super::meter::Metering;
use super::shared::shared_accounts;
use crate::cache_folder::cache_folder;
use crate::{ClientError, PricedAgent};
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{AgentConfig, ExperimentConfig};
use ktd_experiment::price_table::{PriceTable, TokenPricing};
use ktd_experiment::provider::Provider;
use ktd_experiment::rate_limits::RateLimits;
use ktd_io::lock::FileLock;
use ktd_io::whole_file::create_private;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Prices, caps and rates of an experiment, of a probe file or of a command.
#[derive(Debug, Clone, Default)]
pub struct PaymentTerms {
    /// What tokens cost, where it is known.
    pub prices: Option<PriceTable>,
    /// What may be spent.
    pub budget: Caps,
    /// Rates by the name of a key's environment variable or file.
    pub rates: BTreeMap<String, RateLimits>,
}

impl PaymentTerms {
    /// The terms of an experiment. `base` is where relative paths start.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of_experiment(config: &ExperimentConfig, base: &Path) -> Result<Self, ClientError> {
        let prices = config.prices.as_deref();
        Self::read(prices, base, config.budget.clone(), config.rates.clone())
    }

    /// Terms whose price table is a file. `base` is where a relative path starts.
    ///
    /// # Errors
    /// [`ClientError`] when the table cannot be read, and for a budget without one.
    pub fn read(
        prices: Option<&Path>,
        base: &Path,
        budget: Caps,
        rates: BTreeMap<String, RateLimits>,
    ) -> Result<Self, ClientError> {
        let prices = prices
            .map(|path| PriceTable::read(&base.join(path)))
            .transpose()?;
        if budget.is_any() && prices.is_none() {
            return Err(ClientError::input(
                "there is a `[budget]`, but no price table",
                "write prices = \"prices.json\" in the experiment file; see docs/money.md for its form",
            ));
        }
        Ok(Self {
            prices,
            budget,
            rates,
        })
    }

    /// What an agent's tokens cost.
    #[must_use]
    pub fn basis(&self, agent: &AgentConfig, provider: &Provider) -> TokenPricing {
        let table = self.prices.as_ref();
        let record = table.and_then(|table| table.record(&provider.dialect.id, agent.model_name()));
        TokenPricing::of(agent.is_ours(), record)
    }

    /// Whether a budget can hold for these agents: every call has a most, and every cap is for a vendor that is asked.
    ///
    /// # Errors
    /// [`ClientError::Input`] for a model without a price or a bound, and for a cap of a vendor that no agent uses.
    pub fn check<'a>(
        &self,
        agents: impl Iterator<Item = PricedAgent<'a>> + Clone,
    ) -> Result<(), ClientError> {
        if !self.budget.is_any() {
            return Ok(());
        }
        agents.clone().try_for_each(check_bound)?;
        self.check_vendors(agents)
    }

    fn check_vendors<'a>(&self, agents: impl Iterator<Item = PricedAgent<'a>>) -> Result<(), ClientError> {
        let paid = agents.filter(|priced| !priced.agent.is_ours());
        let mut vendors: Vec<&str> = paid.map(|priced| priced.provider.dialect.id.as_str()).collect();
        vendors.sort_unstable();
        vendors.dedup();
        let mut capped = self.budget.vendor.keys();
        match capped.find(|id| !vendors.contains(&id.as_str())) {
            None => Ok(()),
            Some(id) => Err(ClientError::input(
                format!("`[budget]` has a cap for vendor {id:?}, which no agent uses"),
                format!("the agents' vendors are: {}", vendors.join(", ")),
            )),
        }
    }

    /// The gates of the agents' keys and, where there are caps, the budget with what `count` adds of what was spent before.
    /// It is held for this process in the directory `output`.
    ///
    /// # Errors
    /// [`ClientError`] for rates of a key that no agent uses, and when another process spends the same budget; errors of
    /// `count`.
    pub fn metering<'a, E: From<ClientError>>(
        &self,
        agents: impl Iterator<Item = PricedAgent<'a>>,
        output: &Path,
        count: impl FnOnce(&Budget) -> Result<(), E>,
    ) -> Result<Metering, E> {
        // A server knows of all processes, and counts what they spend.
        let is_held = self.budget.is_any() && shared_accounts().is_none();
        let lock = is_held.then(|| lock(output)).transpose()?;
        Ok(Metering {
            lock,
            ..self.open(agents, count)?
        })
    }

    /// The same where another lock keeps other processes from what is spent.
    ///
    /// # Errors
    /// [`ClientError`] for rates of a key that no agent uses; errors of `count`.
    pub fn open<'a, E: From<ClientError>>(
        &self,
        agents: impl Iterator<Item = PricedAgent<'a>>,
        count: impl FnOnce(&Budget) -> Result<(), E>,
    ) -> Result<Metering, E> {
        let limits = limits(&self.rates, agents)?;
        if let Some(server) = shared_accounts() {
            let caps = Some(self.budget.clone()).filter(Caps::is_any);
            return Ok(Metering {
                budget: caps.map(|caps| Arc::new(Budget::on_server(caps))),
                gates: Gates::on_server(limits, server),
                lock: None,
            });
        }
        let gates = Gates::new(limits, cache_folder().map(|cache| cache.join("rates")));
        if !self.budget.is_any() {
            return Ok(Metering {
                gates,
                ..Metering::default()
            });
        }
        let budget = Budget::new(self.budget.clone());
        count(&budget)?;
        Ok(Metering {
            budget: Some(Arc::new(budget)),
            gates,
            lock: None,
        })
    }

    /// The same for one agent alone: rates of other keys are left out.
    #[must_use]
    pub fn of_one(mut self, agent: &AgentConfig, provider: &Provider) -> Self {
        let name = KeyName::of(agent, provider);
        self.rates.retain(|key, _| *key == name.key);
        self
    }
}

/// Under a budget every call has a most.
fn check_bound(
    PricedAgent {
        agent,
        provider,
        basis,
    }: PricedAgent<'_>,
) -> Result<(), ClientError> {
    // What a program of one's own asks is paid elsewhere.
    if agent.is_outside() {
        return Ok(());
    }
    if *basis == TokenPricing::Unknown {
        let what = format!(
            "agent {:?}: the price table has no row for model {:?} at vendor {:?}",
            agent.id,
            agent.model_name(),
            provider.dialect.id
        );
        return Err(ClientError::input(what, "add a row, or take the `[budget]` out"));
    }
    if *basis != TokenPricing::Free && agent.max_output_tokens().is_none() {
        let what = format!(
            "agent {:?}: there is a budget, but no `max_output_tokens`: a call could cost anything",
            agent.id
        );
        return Err(ClientError::input(
            what,
            "write max_output_tokens = 8192, or what the model needs",
        ));
    }
    Ok(())
}

/// The limits of every key, those under `[rates]` and those of the agents that use it.
///
/// # Errors
/// [`ClientError::Input`] for rates of a key that no agent uses.
pub fn limits<'a>(
    rates: &BTreeMap<String, RateLimits>,
    agents: impl Iterator<Item = PricedAgent<'a>>,
) -> Result<BTreeMap<KeyName, RateLimits>, ClientError> {
    let mut limits: BTreeMap<KeyName, RateLimits> = BTreeMap::new();
    for PricedAgent { agent, provider, .. } in agents.filter(|priced| !priced.agent.is_ours()) {
        let name = KeyName::of(agent, provider);
        let of_key = rates.get(&name.key).copied().unwrap_or_default();
        let of_agent = agent.rates().unwrap_or_default();
        let limit = limits.entry(name).or_default();
        *limit = limit.and(of_key).and(of_agent);
    }
    let is_used = |key: &String| limits.keys().any(|name| name.key == *key);
    match rates.keys().find(|key| !is_used(key)) {
        None => Ok(limits),
        Some(key) => Err(ClientError::input(
            format!("`[rates]` has limits for {key:?}, which no agent's key is called"),
            "name the `api_key_env` or `api_key_file` of an agent, or write `rates` at the agent",
        )),
    }
}

/// Two processes that spend one budget would not know of each other.
fn lock(output: &Path) -> Result<FileLock, ClientError> {
    let folder = output.join("private");
    create_private(&folder)?;
    Ok(FileLock::take(&folder.join("budget.lock"), output)?)
}
