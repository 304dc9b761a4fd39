//! The findings of a measurement, kept with the results.

use crate::ClientError;
use ktd_agents::{ForceLevel, ThinkingPolicy, Usage, Wire};
use ktd_experiment::provider::Provider;
use ktd_io::FileError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, json_bytes, read_json, write_whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A probe of one endpoint: `probes/AGENT.json` in the results directory.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeRecord {
    /// The agent it was made for.
    pub agent: String,
    /// The vendor: a row of the table of dialects.
    pub vendor: String,
    /// The provider's name of the model.
    pub model: String,
    /// The wire.
    pub wire: Wire,
    /// The address.
    pub base_url: String,
    /// [`endpoint_sha256`].
    pub endpoint_sha256: String,
    /// When the model thinks.
    pub thinking: ThinkingPolicy,
    /// The level that was declared: the ladder was climbed down from it.
    pub declared: ForceLevel,
    /// The strongest level that returned a call (or an object, from F3 on); absent where none did.
    pub level: Option<ForceLevel>,
    /// When it was made, seconds since 1970.
    pub probed_at_unix_seconds: u64,
    /// The calls, in order.
    pub calls: Vec<ProbedCall>,
}

/// One call of a probe.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbedCall {
    /// How it was forced.
    pub level: ForceLevel,
    /// Whether the text asked for the submission; where it did not, a call shows that the level is enforced.
    pub is_asked_for: bool,
    /// What it shows about the level.
    pub result: CallResult,
    /// Which of the six outcomes it was; `infra_fault` where no reply came.
    pub outcome: String,
    /// What exactly.
    pub kinds: Vec<String>,
    /// HTTP status; absent where no reply came.
    pub status: Option<u16>,
    /// The message, in a line.
    pub detail: String,
    /// Tokens, and what the provider says that it charged; absent where no turn came.
    pub usage: Option<Usage>,
}

/// What a call shows about its force level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallResult {
    /// The level works: the submission came.
    Called,
    /// The level does not work: the model answered without submitting, or the server lost the call.
    NotCalled,
    /// The level does not work: the endpoint takes no such request.
    Refused,
    /// Nothing: no answer came, the answer was cut, or key, address or model name are wrong.
    Unknown,
}

impl CallResult {
    /// The words for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Called => "called",
            Self::NotCalled => "not called",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// SHA-256 over all of an endpoint that decides what it honours: address, wire and dialect, without notes for people.
///
/// # Errors
/// [`FileError::Damaged`] never in practice.
pub fn endpoint_sha256(provider: &Provider) -> Result<String, ClientError> {
    let mut dialect = provider.dialect.clone();
    dialect.name.clear();
    dialect.notes.clear();
    dialect.unverified.clear();
    let endpoint = (provider.wire, &provider.base_url, &dialect);
    Ok(sha256_hex(&json_bytes(Path::new("the endpoint"), &endpoint)?))
}

/// Where the probe of an agent is kept.
#[must_use]
pub fn probe_path(results: &Path, agent: &str) -> PathBuf {
    probes_directory(results).join(format!("{agent}.json"))
}

/// Where the measurements of an agent are kept, each in a folder of its own.
#[must_use]
pub fn exchanges_folder(results: &Path, agent: &str) -> PathBuf {
    probes_directory(results).join(agent)
}

pub(super) fn probes_directory(results: &Path) -> PathBuf {
    results.join("probes")
}

impl ProbeRecord {
    /// Whether it says anything about the declared level.
    #[must_use]
    pub fn is_conclusive(&self) -> bool {
        let shows = |call: &ProbedCall| call.result != CallResult::Unknown;
        self.level.is_some() || self.calls.iter().any(shows)
    }

    /// Keeps it in the results directory. What was found about the same agent before is replaced only by a probe that
    /// found something.
    ///
    /// # Errors
    /// [`ClientError::File`].
    pub fn keep(&self, results: &Path) -> Result<Option<PathBuf>, ClientError> {
        let path = probe_path(results, &self.agent);
        if !self.is_conclusive() && path.exists() {
            return Ok(None);
        }
        let directory = probes_directory(results);
        create_directory(&directory)?;
        write_whole(&path, &json_bytes(&path, self)?)?;
        Ok(Some(path))
    }

    /// Reads one.
    ///
    /// # Errors
    /// [`ClientError::File`], or [`ClientError::Input`] for a file that is none.
    pub fn read(path: &Path) -> Result<Self, ClientError> {
        read_json(path).map_err(|error| {
            if matches!(error, FileError::Damaged { .. }) {
                ClientError::input(error.to_string(), "delete it and probe again")
            } else {
                error.into()
            }
        })
    }
}
