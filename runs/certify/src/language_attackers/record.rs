//! What an attacker's folder holds: who was asked what, and what each probe came to.
//!
//! | file | holds |
//! |---|---|
//! | `attacker.json` | agent, endpoint, mask, and the hashes of every text |
//! | `exchanges.jsonl.zst` | every request before it is sent, and what came back |
//! | `answers.jsonl` | a line a probe, by kind and number, whatever came first |
//! | `private/lock` | held by the one process that writes |

use super::guess::{Guess, tool};
use super::resolve::answer_of;
use crate::CertifyError;
use ktd_client::AskedModel;
use ktd_env::Market;
use ktd_experiment::config::AgentConfig;
use ktd_experiment::label;
use ktd_experiment::provider::Provider;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{json_bytes, read_if_exists, write_whole};
use ktd_masking::{Level, MaskSettings, Numeric};
use ktd_probes::{ProbeAnswer, ProbeKind};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The version of the files of an attacker's folder.
const FORMAT_VERSION: u32 = 1;

/// Outcome of one probe.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageAnswer {
    /// The probe's kind.
    pub kind: ProbeKind,
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// What the guess means on the panel; `None` where the probe is unanswered.
    pub answer: Option<ProbeAnswer>,
    /// The guess in the model's own words.
    pub guess: Option<Guess>,
    /// Why it is unanswered: a model's last mistake, or `server_parser_leak`, or in what was read from a batch
    /// `batch_row` and `not_asked`.
    pub reason: Option<String>,
    /// The mistakes on the way, in order.
    pub mistakes: Vec<String>,
}

/// Line of `answers.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageAnswerLine {
    /// The probe's kind.
    pub kind: ProbeKind,
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// The guess in the model's own words; none where the probe is unanswered.
    pub guess: Option<Guess>,
    /// Why it is unanswered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The mistakes on the way, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mistakes: Vec<String>,
}

impl LanguageAnswer {
    /// A guess, with what it means on the panel.
    pub(super) fn of_guess(market: &Market, (kind, number): (ProbeKind, usize), guess: Guess) -> Self {
        Self {
            kind,
            number,
            answer: Some(answer_of(market, &guess)),
            guess: Some(guess),
            reason: None,
            mistakes: Vec::new(),
        }
    }

    /// No answer.
    pub(super) fn unanswered((kind, number): (ProbeKind, usize), reason: &str) -> Self {
        Self {
            kind,
            number,
            answer: None,
            guess: None,
            reason: Some(reason.to_owned()),
            mistakes: Vec::new(),
        }
    }

    /// The line that is kept.
    #[must_use]
    pub fn record(&self) -> LanguageAnswerLine {
        LanguageAnswerLine {
            kind: self.kind,
            number: self.number,
            guess: self.guess.clone(),
            reason: self.reason.clone(),
            mistakes: self.mistakes.clone(),
        }
    }
}

/// Where the answers of an attacker are, below its folder.
#[must_use]
pub fn answers_path(folder: &Path) -> PathBuf {
    folder.join("answers.jsonl")
}

/// The bytes of `answers.jsonl`.
pub(super) fn answers_bytes(path: &Path, answers: &[LanguageAnswer]) -> Result<Vec<u8>, CertifyError> {
    let mut bytes = Vec::new();
    for answer in answers {
        serde_json::to_writer(&mut bytes, &answer.record())
            .map_err(|error| CertifyError::damaged(path, error.to_string()))?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Who was asked, and in what words.
#[derive(Serialize)]
struct Identity<'a> {
    format: u32,
    agent: &'a AgentConfig,
    provider: &'a Provider,
    #[serde(serialize_with = "label::serialize")]
    level: Level,
    #[serde(serialize_with = "label::serialize")]
    numeric: Numeric,
    seed: u64,
    schema_retries: u32,
    prompts_sha256: String,
    tools_sha256: String,
}

/// The bytes of `attacker.json`.
fn identity(
    path: &Path,
    attacker: &AskedModel,
    mask: MaskSettings,
    schema_retries: u32,
) -> Result<Vec<u8>, CertifyError> {
    let tools = [ProbeKind::Day, ProbeKind::Linked].map(tool);
    let tools: Vec<_> = tools
        .iter()
        .map(|spec| (spec.name, spec.description, spec.parameters.as_value()))
        .collect();
    Ok(json_bytes(
        path,
        &Identity {
            format: FORMAT_VERSION,
            agent: &attacker.agent,
            provider: &attacker.provider,
            level: mask.level,
            numeric: mask.numeric,
            seed: attacker.seed,
            schema_retries,
            prompts_sha256: ktd_prompts::attack_hash(),
            tools_sha256: sha256_hex(&json_bytes(path, &tools)?),
        },
    )?)
}

/// Writes `attacker.json`, or checks that the one of an earlier run is the same.
pub(super) fn keep_identity(
    folder: &Path,
    attacker: &AskedModel,
    mask: MaskSettings,
    schema_retries: u32,
) -> Result<(), CertifyError> {
    let path = folder.join("attacker.json");
    let now = identity(&path, attacker, mask, schema_retries)?;
    match read_if_exists(&path)? {
        Some(recorded) if recorded == now => Ok(()),
        Some(_) => Err(CertifyError::input(
            format!(
                "{}: the recorded answers are from another agent, under another mask or to other texts",
                path.display()
            ),
            "choose another directory, or move this one away to ask everything anew",
        )),
        None => Ok(write_whole(&path, &now)?),
    }
}
