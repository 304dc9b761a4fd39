//! The keys of `method = "llm"`: which model finds formulas, in how many rounds, and what may be spent on it.

use crate::FormulaStudyError;
use ktd_agents::Dialect;
use ktd_asking::{AskingRole, AskingSettings};
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{RetryConfig, SessionConfig};
use ktd_experiment::rate_limits::RateLimits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The keys of a search by a language model. Keys that experiments have mean what they mean there.
///
/// What decides no request, as prices and budget, is no part of a search's identity and may be changed at any time.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LlmKeys {
    /// The model: one.
    pub agents: Vec<AgentConfig>,
    /// Vendors of one's own.
    pub dialects: Vec<Dialect>,
    /// Conversations (default 10).
    pub rounds: usize,
    /// Formulas that each round asks for (default 8).
    pub ask: usize,
    /// How often a bad answer may be corrected (default 3).
    pub schema_retries: u32,
    /// What is done about infrastructure faults.
    #[serde(skip_serializing)]
    pub retries: RetryConfig,
    /// Price table, relative to the file.
    #[serde(skip_serializing)]
    pub prices: Option<PathBuf>,
    /// What may be spent.
    #[serde(skip_serializing)]
    pub budget: Caps,
    /// Rates of a key.
    #[serde(skip_serializing)]
    pub rates: BTreeMap<String, RateLimits>,
}

/// The most rounds of a search.
const ROUNDS_MAX: usize = 1_000;

/// The most formulas that a round asks for.
const ASK_MAX: usize = 32;

impl Default for LlmKeys {
    fn default() -> Self {
        Self {
            agents: Vec::new(),
            dialects: Vec::new(),
            rounds: 10,
            ask: 8,
            schema_retries: SessionConfig::default().schema_retries,
            retries: RetryConfig::default(),
            prices: None,
            budget: Caps::default(),
            rates: BTreeMap::new(),
        }
    }
}

impl LlmKeys {
    /// Whether everything fits.
    ///
    /// # Errors
    /// [`FormulaStudyError::Input`] naming the key.
    pub fn check(&self) -> Result<(), FormulaStudyError> {
        for (key, value, most) in [("rounds", self.rounds, ROUNDS_MAX), ("ask", self.ask, ASK_MAX)] {
            if !(1..=most).contains(&value) {
                return Err(FormulaStudyError::input(
                    format_args!("llm.{key} is {value}"),
                    format_args!("give a number from 1 to {most}"),
                ));
            }
        }
        self.asking(0).check()?;
        if self.agents.len() == 1 {
            return Ok(());
        }
        Err(FormulaStudyError::input(
            "`llm.agents` names several models",
            "keep one: a pool has one finder; give each model a search of its own",
        ))
    }

    pub(super) fn asking(&self, seed: u64) -> AskingSettings<'_> {
        AskingSettings {
            roles: AskingRole::one("miner", seed),
            table: "llm",
            agents: &self.agents,
            takes_programs: false,
            builtin: None,
            dialects: &self.dialects,
            retries: self.retries,
            prices: self.prices.as_deref(),
            budget: &self.budget,
            rates: &self.rates,
            temperature: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LlmKeys;

    #[test]
    fn a_search_has_one_model() {
        let agent = |id: &str| format!("{{ id = '{id}', base_url = 'http://127.0.0.1:9/v1', model = 'm' }}");
        let one = format!("agents = [{}]\n", agent("a"));
        let keys: LlmKeys = toml::from_str(&one).unwrap();
        keys.check().unwrap();
        assert_eq!((keys.rounds, keys.ask), (10, 8));
        for (text, part) in [
            (String::new(), "names no model"),
            (
                format!("agents = [{}, {}]", agent("a"), agent("b")),
                "several models",
            ),
            (format!("{one}rounds = 0"), "llm.rounds is 0"),
            (format!("{one}ask = 33"), "llm.ask is 33"),
        ] {
            let keys: LlmKeys = toml::from_str(&text).unwrap();
            let error = keys.check().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
