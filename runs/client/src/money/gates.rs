//! The gates of all keys of a run.

use super::rate_gate::RateGate;
use ktd_experiment::config::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_experiment::rate_limits::RateLimits;
use ktd_io::sha256::sha256_hex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Whose limits they are: the key's environment variable or file, and the address it is used at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyName {
    /// The environment variable's name or the file's path; empty where no key is sent.
    pub key: String,
    /// The base URL.
    pub base_url: String,
}

impl KeyName {
    /// Whose limits hold for an agent's calls. A built-in agent has no key: it shares its name with none.
    #[must_use]
    pub fn of(agent: &AgentConfig, provider: &Provider) -> Self {
        let api_key = agent.model().and_then(|model| model.api_key.as_ref());
        Self {
            key: api_key.map(ToString::to_string).unwrap_or_default(),
            base_url: if agent.is_ours() {
                agent.model_name().to_owned()
            } else {
                provider.base_url.clone()
            },
        }
    }

    /// What people call it: the name of the key, or the address where none is sent.
    #[must_use]
    pub fn label(&self) -> &str {
        if self.key.is_empty() {
            &self.base_url
        } else {
            &self.key
        }
    }

    /// The name of the file that counts what all processes of a machine ask with it.
    fn file_name(&self) -> String {
        sha256_hex(format!("{}\n{}", self.key, self.base_url).as_bytes())
    }
}

/// The gates of an experiment, one a key.
#[derive(Debug, Default)]
pub struct Gates {
    limits: BTreeMap<KeyName, RateLimits>,
    shared: Option<PathBuf>,
    made: Mutex<BTreeMap<KeyName, Arc<RateGate>>>,
}

impl Gates {
    /// Gates with these limits; a key without any has a gate that only heeds a busy or silent provider. Rates hold for all
    /// processes that name the same folder.
    #[must_use]
    pub const fn new(limits: BTreeMap<KeyName, RateLimits>, shared: Option<PathBuf>) -> Self {
        Self {
            limits,
            shared,
            made: Mutex::new(BTreeMap::new()),
        }
    }

    /// The gate of a key: the same one for all who use it.
    pub fn of(&self, name: &KeyName) -> Arc<RateGate> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = made.entry(name.clone()).or_insert_with(|| {
            let limits = self.limits.get(name).copied().unwrap_or_default();
            let file = name.file_name();
            let shared = self.shared.as_deref().filter(|_| limits.has_rate());
            Arc::new(RateGate::new(
                limits,
                shared.map(|folder| (folder, file.as_str())),
            ))
        });
        Arc::clone(gate)
    }
}
