//! Keys by name.

use ktd_experiment::config::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_io::sha256::sha256_hex;

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

    /// Whether it is that of programs of a user's own, whom their owner pays: no price holds for them, and no cap.
    #[must_use]
    pub fn is_of_programs(&self) -> bool {
        self.key.is_empty() && self.base_url.is_empty()
    }

    /// What people call it: the name of the key, or the address where none is sent.
    #[must_use]
    pub fn label(&self) -> &str {
        if self.is_of_programs() {
            "(own programs)"
        } else if self.key.is_empty() {
            &self.base_url
        } else {
            &self.key
        }
    }

    /// The name of the file that counts what all processes of a machine ask with it.
    pub(super) fn file_name(&self) -> String {
        sha256_hex(format!("{}\n{}", self.key, self.base_url).as_bytes())
    }
}
