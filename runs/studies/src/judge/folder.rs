//! The folder of a judgement: what decides its requests, and whose answers it holds.

use super::list::{EntryLine, JudgeList};
use super::scores::tool;
use crate::FormulaStudyError;
use crate::judge_config::{JudgeConfig, JudgeWording};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{parse_json, read_bounded};
use ktd_record::program_record::ProgramRecord;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The version of the files of a judgement.
pub(super) const FORMAT: u32 = 1;

/// The most that a file of a judgement may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 28;

/// Paths of a judgement.
#[derive(Debug, Clone)]
pub(super) struct JudgePaths {
    root: PathBuf,
}

impl JudgePaths {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn request(&self) -> PathBuf {
        self.root.join("request.json")
    }

    pub(super) fn reading(&self) -> PathBuf {
        self.root.join("reading.json")
    }

    pub(super) fn judgement(&self) -> PathBuf {
        self.root.join("judgement.json")
    }

    pub(super) fn agent(&self, id: &str) -> PathBuf {
        self.root.join("agents").join(id)
    }
}

/// What decides every request.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JudgeRequest {
    pub(super) format: u32,
    /// The program that asks; absent from folders of earlier ones.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) program: Option<ProgramRecord>,
    pub(super) prompt: JudgeWording,
    pub(super) prompts_sha256: String,
    pub(super) tools_sha256: String,
    pub(super) seed: u64,
    pub(super) orders: usize,
    pub(super) batch: usize,
    pub(super) formulas: Vec<EntryLine>,
}

impl JudgeRequest {
    pub(super) fn new(config: &JudgeConfig, list: &JudgeList, program: &ProgramRecord) -> Self {
        Self {
            format: FORMAT,
            program: Some(program.clone()),
            prompt: config.prompt,
            prompts_sha256: ktd_prompts::alpha_hash(),
            tools_sha256: tools_sha256(),
            seed: config.seed,
            orders: config.orders,
            batch: config.batch,
            formulas: list.lines(),
        }
    }

    /// The request of a folder, by the texts of this program.
    pub(super) fn read(path: &Path) -> Result<Self, FormulaStudyError> {
        let request: Self = read(path)?;
        let ours = (FORMAT, ktd_prompts::alpha_hash(), tools_sha256());
        if (request.format, &request.prompts_sha256, &request.tools_sha256) == (ours.0, &ours.1, &ours.2) {
            return Ok(request);
        }
        Err(FormulaStudyError::input(
            format_args!("{}: it was made with other texts for judges", path.display()),
            "replay it with the version of ktd that made it",
        ))
    }
}

fn tools_sha256() -> String {
    let tool = tool();
    let parts = (tool.name, tool.description, tool.parameters.as_value());
    // Static text and a schema made from a type cannot fail to be written.
    sha256_hex(&serde_json::to_vec(&parts).unwrap_or_default())
}

/// Reads a file of a judgement.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, FormulaStudyError> {
    Ok(parse_json(path, &read_bounded(path, FILE_LIMIT_BYTES)?)?)
}
