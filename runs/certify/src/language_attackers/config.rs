//! `[language]` of a probe file: which models are asked, how, and what may be spent on them.

use crate::CertifyError;
use ktd_agents::Dialect;
use ktd_asking::{AskingRole, AskingSettings};
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{AgentConfig, RetryConfig, SessionConfig};
use ktd_experiment::rate_limits::RateLimits;
use ktd_study::StudyError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The language models of a probe file. Keys mean what they mean in experiments; those of money are in no record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LanguageConfig {
    /// The attackers: models behind endpoints, and the built-in `cheater`.
    pub agents: Vec<AgentConfig>,
    /// Vendors of one's own.
    pub dialects: Vec<Dialect>,
    /// Probes of one attacker that are asked at once (default 8). Rates of its key hold besides.
    pub parallel: usize,
    /// How often a bad answer may be corrected (default 3).
    pub schema_retries: u32,
    /// What is done about infrastructure faults.
    #[serde(skip_serializing)]
    pub retries: RetryConfig,
    /// Price table, relative to the file.
    #[serde(skip_serializing)]
    pub prices: Option<PathBuf>,
    /// What may be spent on all probes of all sets; `cell` caps one attacker.
    #[serde(skip_serializing)]
    pub budget: Caps,
    /// Rates of a key.
    #[serde(skip_serializing)]
    pub rates: BTreeMap<String, RateLimits>,
}

impl Default for LanguageConfig {
    fn default() -> Self {
        Self {
            agents: Vec::new(),
            dialects: Vec::new(),
            parallel: 8,
            schema_retries: SessionConfig::default().schema_retries,
            retries: RetryConfig::default(),
            prices: None,
            budget: Caps::default(),
            rates: BTreeMap::new(),
        }
    }
}

/// The built-in agent that answers probes.
pub(crate) const CHEATER: &str = "cheater";

impl LanguageConfig {
    /// Who is asked, and at what cost; nobody where the file names no model. `seed` is sent to vendors that take one, where an
    /// agent asks for it.
    #[must_use]
    pub fn asking(&self, seed: u64) -> Option<AskingSettings<'_>> {
        (!self.agents.is_empty()).then(|| AskingSettings {
            roles: AskingRole::one("attacker", seed),
            table: "language",
            agents: &self.agents,
            takes_programs: false,
            builtin: Some(CHEATER),
            dialects: &self.dialects,
            retries: self.retries,
            prices: self.prices.as_deref(),
            budget: &self.budget,
            rates: &self.rates,
            temperature: None,
        })
    }

    /// Whether everything fits.
    ///
    /// # Errors
    /// [`CertifyError::Input`] naming the agent or the key.
    pub fn check(&self) -> Result<(), CertifyError> {
        if self.parallel == 0 {
            return Err(CertifyError::input(
                "`language.parallel` must be at least 1",
                "write 1 to ask one probe after the other",
            ));
        }
        let asking = self.asking(0).map_or(Ok(()), |asking| asking.check());
        Ok(asking.map_err(StudyError::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<LanguageConfig, String> {
        let config: LanguageConfig = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check().map_err(|error| error.to_string())?;
        Ok(config)
    }

    #[test]
    fn models_and_the_cheater_are_attackers_and_nobody_else() {
        let config = config("agents = [{ id = \"c\", builtin = \"cheater\" }]").unwrap();
        assert_eq!((config.parallel, config.schema_retries), (8, 3));
        for agent in [
            "builtin = \"momentum\"",
            "control = \"oracle\"",
            "external = \"mcp\"",
            "command = [\"x\"]",
        ] {
            let error = super::tests::config(&format!("agents = [{{ id = \"a\", {agent} }}]")).unwrap_err();
            assert!(error.contains("not a language model"), "{error}");
        }
        for (text, part) in [
            ("parallel = 0", "at least 1"),
            ("parralel = 1", "unknown field"),
            ("agents = [{ id = \"a\", vendor = \"qwen\" }]", "no `model`"),
            (
                "agents = [{ id = \"a\", builtin = \"cheater\" }, { id = \"a\", builtin = \"cheater\" }]",
                "`agents` has the id",
            ),
        ] {
            let error = super::tests::config(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
