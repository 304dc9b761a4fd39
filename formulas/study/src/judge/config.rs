//! The file of a judgement: which models score which formulas, how, and what may be spent on it.

use crate::keys::{PoolSource, check_pools};
use ktd_agents::Dialect;
use ktd_asking::{AskingRole, AskingSettings};
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{RetryConfig, SessionConfig};
use ktd_experiment::rate_limits::RateLimits;
use ktd_prompts::JudgePrompt;
use ktd_study::{StudyError, plain_name, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How judges are instructed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgeWording {
    /// From 0 to 100; length is no merit.
    #[default]
    Ours,
    /// From 50 to 100, longer formulas liked: comparable with published scores.
    Paper,
}

impl JudgeWording {
    pub(super) const fn prompt(self) -> JudgePrompt {
        match self {
            Self::Ours => JudgePrompt::Ours,
            Self::Paper => JudgePrompt::Paper,
        }
    }
}

/// What is judged, and by whom. Keys that experiments have mean what they mean there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeStudy {
    /// `alpha-judge`.
    #[serde(skip_serializing)]
    pub kind: Option<String>,
    /// Its name: that of its folder of results.
    pub name: String,
    /// The pools.
    pub pools: Vec<PoolSource>,
    /// Models behind endpoints.
    pub agents: Vec<AgentConfig>,
    /// Vendors of one's own.
    pub dialects: Vec<Dialect>,
    /// How they are instructed.
    pub prompt: JudgeWording,
    /// How often each formula is scored, each time in another order (default 3).
    pub orders: usize,
    /// Formulas of one question (default 8, at most 8).
    pub batch: usize,
    /// Seed of orders and controls (default 1).
    pub seed: u64,
    /// Questions that are put to one judge at once (default 4). Rates of its key hold besides.
    pub parallel: usize,
    /// How often a bad answer may be corrected (default 3).
    pub schema_retries: u32,
    /// What is done about infrastructure faults.
    #[serde(skip_serializing)]
    pub retries: RetryConfig,
    /// Price table, relative to the file.
    #[serde(skip_serializing)]
    pub prices: Option<PathBuf>,
    /// What may be spent; `cell` caps one judge.
    #[serde(skip_serializing)]
    pub budget: Caps,
    /// Rates of a key.
    #[serde(skip_serializing)]
    pub rates: BTreeMap<String, RateLimits>,
    /// A ranking by people: CSV with the columns `id,score`, relative to the file.
    pub human: Option<PathBuf>,
}

/// The most formulas of one question.
const BATCH_MAX: usize = 8;

impl Default for JudgeStudy {
    fn default() -> Self {
        Self {
            kind: None,
            name: String::new(),
            pools: Vec::new(),
            agents: Vec::new(),
            dialects: Vec::new(),
            prompt: JudgeWording::Ours,
            orders: 3,
            batch: BATCH_MAX,
            seed: 1,
            parallel: 4,
            schema_retries: SessionConfig::default().schema_retries,
            retries: RetryConfig::default(),
            prices: None,
            budget: Caps::default(),
            rates: BTreeMap::new(),
            human: None,
        }
    }
}

impl JudgeStudy {
    pub(super) fn check(&self) -> Result<(), StudyError> {
        plain_name(&self.name)?;
        check_pools(&self.pools)?;
        within("batch", self.batch, 1..=BATCH_MAX)?;
        within("orders", self.orders, 1..=99)?;
        within("parallel", self.parallel, 1..=1_000)?;
        Ok(self.asking().check()?)
    }

    pub(super) fn asking(&self) -> AskingSettings<'_> {
        /// Little of chance, where a vendor takes a temperature.
        const TEMPERATURE: f64 = 0.2;
        AskingSettings {
            roles: AskingRole::one("judge", self.seed),
            table: "",
            agents: &self.agents,
            takes_programs: false,
            builtin: None,
            dialects: &self.dialects,
            retries: self.retries,
            prices: self.prices.as_deref(),
            budget: &self.budget,
            rates: &self.rates,
            temperature: Some(TEMPERATURE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let config: Result<JudgeStudy, _> = toml::from_str(&format!(
            "name = 'x'\npools = [{{ id = 'a', builtin = 'factors' }}]\n{text}"
        ));
        match config {
            Ok(config) => config.check().unwrap_err().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_cannot_judge_says_so() {
        let model = "agents = [{ id = \"j\", base_url = \"http://127.0.0.1:9/v1\", model = \"m\" }]\n";
        let config: JudgeStudy = toml::from_str(model).unwrap();
        assert_eq!((config.orders, config.batch, config.schema_retries), (3, 8, 3));
        for (text, part) in [
            ("", "names no model"),
            (
                "agents = [{ id = \"j\", builtin = \"momentum\" }]",
                "not a language model",
            ),
            (&format!("{model}orders = 0"), "orders is 0"),
            (&format!("{model}batch = 9"), "batch is 9"),
            (&format!("{model}parallel = 0"), "parallel is 0"),
            (&format!("{model}prompt = \"mine\""), "unknown variant `mine`"),
            (&format!("{model}order = 2"), "unknown field `order`"),
        ] {
            let error = error(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
