//! Who attacked.

use crate::config::CertifyConfig;
use crate::set_record::SetRecord;
use ktd_experiment::config::AgentConfig;
use ktd_probes::Attackers;
use ktd_probes::judge::{EXPECTED_OF_LANGUAGE, EXPECTED_RECOVERIES, ExpectedRecovery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Attacker of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttackerRecord {
    /// Its name.
    pub name: String,
    /// What it knows.
    pub knows: Knowledge,
    /// Vendor and name of a language model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
}

/// Knowledge of an attacker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knowledge {
    /// It owns the whole price database.
    Database,
    /// It is a language model and knows what it remembers.
    Language,
}

/// The attackers that own the database.
#[must_use]
pub fn database_attackers() -> Vec<AttackerRecord> {
    let attacker = |name: &str| AttackerRecord {
        name: name.to_owned(),
        knows: Knowledge::Database,
        model: None,
    };
    Attackers::NAMES.into_iter().map(attacker).collect()
}

/// Everybody who is asked by a file: the attackers of the database, then the language models.
#[must_use]
pub fn attackers_of(keys: &CertifyConfig) -> Vec<AttackerRecord> {
    let language = |agent: &AgentConfig| AttackerRecord {
        name: agent.id.clone(),
        knows: Knowledge::Language,
        model: Some(match agent.model().and_then(|model| model.vendor.as_deref()) {
            Some(vendor) => format!("{vendor}/{}", agent.model_name()),
            None => agent.model_name().to_owned(),
        }),
    };
    let language = keys.language.agents.iter().map(language);
    database_attackers().into_iter().chain(language).collect()
}

/// Who must recover what of which control of a set: the attackers of the database, then each
/// language model.
#[must_use]
pub fn expected_recoveries<'a>(
    attackers: &'a [AttackerRecord],
    set: &SetRecord,
) -> Vec<(&'a str, ExpectedRecovery)> {
    let language = attackers
        .iter()
        .filter(|attacker| attacker.knows == Knowledge::Language);
    let language = language.map(|attacker| (attacker.name.as_str(), EXPECTED_OF_LANGUAGE));
    let needed = EXPECTED_RECOVERIES
        .into_iter()
        .filter(|(_, expected)| expected.control.is_needed(set.plan.numeric, set.has_asked()));
    needed.chain(language).collect()
}
