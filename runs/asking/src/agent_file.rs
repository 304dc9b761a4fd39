//! Who was asked, as a folder keeps it.

use crate::AskingError;
use ktd_client::AskedModel;
use ktd_client::money::PaymentTerms;
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_io::whole_file::{json_bytes, read_if_exists, write_whole};
use ktd_record::program_record::check_program;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Its name in a folder.
pub const AGENT_FILE: &str = "agent.json";

/// The agent of a folder, with its endpoint: what a replay needs besides the exchanges.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AgentFile {
    /// The version of the layout.
    pub format: u32,
    /// The agent of the configuration.
    pub agent: AgentConfig,
    /// How its endpoint is spoken to.
    pub provider: Provider,
    /// How often a bad answer may be corrected, where answers have a form.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub schema_retries: Option<u32>,
}

impl AgentFile {
    /// The file of a model, of this version of the layout.
    #[must_use]
    pub fn of(model: &AskedModel, format: u32, schema_retries: Option<u32>) -> Self {
        Self {
            format,
            agent: model.agent.clone(),
            provider: model.provider.clone(),
            schema_retries,
        }
    }

    /// The model as a replay needs it: without prices.
    #[must_use]
    pub fn model(&self, role: &str, seed: u64) -> AskedModel {
        let terms = PaymentTerms::default();
        AskedModel::new(&self.agent, self.provider.clone(), &terms, (role, seed))
    }
}

/// Writes a file, or checks that the one of an earlier run is the same; `about` completes "the recorded answers are".
///
/// # Errors
/// [`AskingError::Input`] where the file of an earlier run is another one.
pub fn keep_same<T: Serialize>(path: &Path, now: &T, about: &str) -> Result<(), AskingError> {
    let now = json_bytes(path, now)?;
    match read_if_exists(path)? {
        Some(recorded) if recorded == now => Ok(()),
        Some(recorded) => {
            check_program(path, &recorded, &now)?;
            Err(AskingError::input(
                format_args!("{}: the recorded answers are {about}", path.display()),
                "choose another directory with --out, or move this folder away to ask everything anew",
            ))
        }
        None => Ok(write_whole(path, &now)?),
    }
}
