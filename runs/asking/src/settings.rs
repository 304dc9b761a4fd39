//! How models are asked, and what may be spent on them: keys that mean what they mean in experiments.

use super::model::{asked_model, not_a_model};
use crate::AskingError;
use crate::role::AskingRole;
use ktd_agents::Dialect;
use ktd_client::money::{Budget, Metering, PaymentTerms};
use ktd_client::spent::count_spent;
use ktd_client::{AskedModel, Payer};
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{RetryConfig, unique};
use ktd_experiment::provider::table_with;
use ktd_experiment::rate_limits::RateLimits;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Keys of a file that say who is asked, and at what cost.
#[derive(Debug, Clone)]
pub struct AskingSettings<'s> {
    /// What the models are for.
    pub roles: Vec<AskingRole>,
    /// The table of the file, for errors; empty where the keys stand in none.
    pub table: &'static str,
    /// Models behind endpoints.
    pub agents: &'s [AgentConfig],
    /// Whether programs that speak lines may answer too.
    pub takes_programs: bool,
    /// A built-in agent that may answer too.
    pub builtin: Option<&'static str>,
    /// Vendors of one's own.
    pub dialects: &'s [Dialect],
    /// What is done about infrastructure faults.
    pub retries: RetryConfig,
    /// Price table, relative to the file.
    pub prices: Option<&'s Path>,
    /// What may be spent; `cell` caps one model in one role.
    pub budget: &'s Caps,
    /// Rates of a key.
    pub rates: &'s BTreeMap<String, RateLimits>,
    /// Sent where an agent names none and its vendor takes one.
    pub temperature: Option<f64>,
}

/// Models that are ready to be asked, with their budget.
#[derive(Debug)]
pub struct OpenModels {
    /// Role by role, in each all agents in their order.
    pub models: Vec<AskedModel>,
    /// Their budget and rates.
    pub metering: Metering,
}

impl AskingSettings<'_> {
    /// Whether everything fits.
    ///
    /// # Errors
    /// [`AskingError`] naming the key.
    pub fn check(&self) -> Result<(), AskingError> {
        let key = |name: &str| match self.table {
            "" => name.to_owned(),
            table => format!("{table}.{name}"),
        };
        if self.retries.attempts == 0 {
            return Err(AskingError::input(
                format_args!("`{}` must be at least 1", key("retries.attempts")),
                "write 1 to ask once",
            ));
        }
        if self.agents.is_empty() {
            return Err(AskingError::input(
                format_args!("`{}` names no model", key("agents")),
                "write agents = [{ id = \"judge\", vendor = \"openai\", model = \"gpt-5.5\", api_key_env = \"OPENAI_API_KEY\" }]",
            ));
        }
        let answers = |agent: &AgentConfig| {
            let is_program = self.takes_programs && agent.program().is_some();
            let is_builtin = self.builtin.is_some() && agent.builtin_name() == self.builtin;
            agent.model().is_some() || is_program || is_builtin
        };
        if let Some(agent) = self.agents.iter().find(|agent| !answers(agent)) {
            return Err(not_a_model(&agent.id));
        }
        let ids = self.agents.iter().map(|agent| agent.id.as_str());
        Ok(unique("agents", ids)?)
    }

    /// The models, role by role, without an endpoint of theirs being touched. `base` is where relative paths start.
    ///
    /// # Errors
    /// [`AskingError`] for an agent that is no model, a vendor that is unknown, and a budget without prices.
    pub fn models(&self, base: &Path) -> Result<(Vec<AskedModel>, PaymentTerms), AskingError> {
        self.check()?;
        let terms = PaymentTerms::read(self.prices, base, self.budget.clone(), self.rates.clone())?;
        let table = table_with(self.dialects)?;
        let mut models = Vec::with_capacity(self.roles.len() * self.agents.len());
        for role in &self.roles {
            for agent in self.agents {
                models.push(asked_model(
                    agent,
                    &table,
                    &terms,
                    (role, role.temperature.or(self.temperature)),
                )?);
            }
        }
        terms.check(models.iter().map(AskedModel::priced))?;
        Ok((models, terms))
    }

    /// The models with their budget, of which `count` adds what was spent before. It is held for this process in `output`.
    ///
    /// # Errors
    /// As [`Self::models`]; when another process spends the same budget; errors of `count`.
    pub fn open(
        &self,
        base: &Path,
        output: &Path,
        count: impl FnOnce(&[AskedModel], &Budget) -> Result<(), AskingError>,
    ) -> Result<OpenModels, AskingError> {
        let (models, terms) = self.models(base)?;
        let priced = models.iter().map(AskedModel::priced);
        let metering = terms.metering(priced, output, |budget| count(&models, budget))?;
        Ok(OpenModels { models, metering })
    }

    /// The models with their budget, of which everything in the folder of the study was spent before: by each model what lies in
    /// the folders that `own` names for its place, by whomever the file names no more at the prices of today's table.
    ///
    /// # Errors
    /// As [`Self::open`]; for a record that cannot be read, or whose model has no price.
    pub fn open_over(
        &self,
        base: &Path,
        output: &Path,
        own: &dyn Fn(usize) -> Vec<PathBuf>,
    ) -> Result<OpenModels, AskingError> {
        let (models, terms) = self.models(base)?;
        let priced = models.iter().map(AskedModel::priced);
        let metering = terms.metering(priced, output, |budget| {
            let own = models.iter().zip((0..).map(own));
            let own =
                own.flat_map(|(model, folders)| folders.into_iter().map(|folder| (folder, &model.payer)));
            let own: BTreeMap<PathBuf, &Payer> = own.collect();
            let payer_of = |folder: &Path| own.get(folder).map(|payer| (*payer).clone());
            count_spent(output, (&terms, budget), &payer_of).map_err(AskingError::from)
        })?;
        Ok(OpenModels { models, metering })
    }
}
