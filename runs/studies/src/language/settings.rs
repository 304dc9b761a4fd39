//! How models are asked, and what may be spent on them: keys that mean what they mean in experiments.

use super::model::{asked_model, not_a_model};
use crate::StudyError;
use ktd_agents::Dialect;
use ktd_client::AskedModel;
use ktd_client::money::{Budget, Metering, PaymentTerms};
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{RetryConfig, unique};
use ktd_experiment::provider::table_with;
use ktd_experiment::rate_limits::RateLimits;
use std::collections::BTreeMap;
use std::path::Path;

/// Keys of a file that say who is asked, and at what cost.
#[derive(Debug, Clone)]
pub(crate) struct AskingSettings<'s> {
    /// What the models are for: it names their payers.
    pub(crate) role: &'static str,
    /// Sent to vendors that take one, where an agent asks for it.
    pub(crate) seed: u64,
    /// The table of the file, for errors.
    pub(crate) table: &'static str,
    pub(crate) agents: &'s [AgentConfig],
    pub(crate) dialects: &'s [Dialect],
    pub(crate) retries: RetryConfig,
    pub(crate) prices: Option<&'s Path>,
    pub(crate) budget: &'s Caps,
    pub(crate) rates: &'s BTreeMap<String, RateLimits>,
    /// Sent where an agent names none and its vendor takes one.
    pub(crate) temperature: Option<f64>,
}

/// Models that are ready to be asked, with their budget.
#[derive(Debug)]
pub(crate) struct OpenModels {
    pub(crate) models: Vec<AskedModel>,
    pub(crate) metering: Metering,
}

impl AskingSettings<'_> {
    /// Whether everything fits.
    pub(crate) fn check(&self) -> Result<(), StudyError> {
        if self.retries.attempts == 0 {
            return Err(StudyError::input(
                format_args!("`{}.retries.attempts` must be at least 1", self.table),
                "write 1 to ask once",
            ));
        }
        if self.agents.is_empty() {
            return Err(StudyError::input(
                format_args!("`{}.agents` names no model", self.table),
                "write agents = [{ id = \"judge\", vendor = \"openai\", model = \"gpt-5.5\", api_key_env = \"OPENAI_API_KEY\" }]",
            ));
        }
        if let Some(agent) = self.agents.iter().find(|agent| agent.model().is_none()) {
            return Err(not_a_model(&agent.id));
        }
        let ids = self.agents.iter().map(|agent| agent.id.as_str());
        Ok(unique("agents", ids)?)
    }

    /// The models, without an endpoint of theirs being touched. `base` is where relative paths start.
    pub(crate) fn models(&self, base: &Path) -> Result<(Vec<AskedModel>, PaymentTerms), StudyError> {
        self.check()?;
        let terms = PaymentTerms::read(self.prices, base, self.budget.clone(), self.rates.clone())?;
        let table = table_with(self.dialects)?;
        let models: Result<Vec<_>, StudyError> = self
            .agents
            .iter()
            .map(|agent| asked_model(agent, &table, &terms, (self.role, self.seed, self.temperature)))
            .collect();
        let models = models?;
        terms.check(models.iter().map(AskedModel::priced))?;
        Ok((models, terms))
    }

    /// The models with their budget, of which `count` adds what was spent before. It is held for this process in `output`.
    pub(crate) fn open(
        &self,
        base: &Path,
        output: &Path,
        count: impl FnOnce(&[AskedModel], &Budget) -> Result<(), StudyError>,
    ) -> Result<OpenModels, StudyError> {
        let (models, terms) = self.models(base)?;
        let priced = models.iter().map(AskedModel::priced);
        let metering = terms.metering(priced, output, |budget| count(&models, budget))?;
        Ok(OpenModels { models, metering })
    }
}
