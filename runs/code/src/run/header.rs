//! `header.json`: all that decides what a bundle holds.

use super::cell::FactorCodeCell;
use super::config::{BENCHMARK, FactorCodeConfig, FeedbackKey, FormatKey};
use super::style::CodeStyle;
use crate::error::CodeError;
use crate::panel_files::bars_csv;
use ktd_client::AskedModel;
use ktd_factor_code::{AccuracyRules, FactorPanels, FactorTasks, PanelKind};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{parse_json, read_bounded};
use ktd_record::program_record::ProgramRecord;
use ktd_sandbox::{BoxHeader, BoxLimits, EnvironmentRecord, FilterHashes, Isolation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the layout.
pub(super) const FORMAT: u32 = 1;

/// The most that a header may hold.
const HEADER_LIMIT_BYTES: u64 = 1 << 24;

/// What functions are run in, as far as results may depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxRecord {
    /// What stands between a function and the machine.
    pub isolation: Isolation,
    /// The filters of system calls.
    pub filters: Option<FilterHashes>,
    /// SHA-256 of the runner.
    pub runner_sha256: String,
    /// The Python environment.
    pub environment: EnvironmentRecord,
    /// The limits of a run.
    pub limits: BoxLimits,
}

impl SandboxRecord {
    /// What the boxes of a launcher are.
    #[must_use]
    pub fn of(header: &BoxHeader) -> Self {
        Self {
            isolation: header.isolation,
            filters: header.filters.clone(),
            runner_sha256: header.runner_sha256.clone(),
            environment: header.environment.clone(),
            limits: header.limits,
        }
    }
}

/// All that decides what a bundle of the factor benchmark holds, besides the model's answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorCodeHeader {
    /// `factor-code`.
    pub benchmark: String,
    /// The version of the layout.
    pub format: u32,
    /// The version of the program.
    pub ktd: String,
    /// The program that judges; absent from bundles of earlier ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramRecord>,
    /// The name of the bundle.
    pub cell: String,
    /// The agent.
    pub agent: String,
    /// Its model.
    pub model: String,
    /// How it was asked.
    pub style: CodeStyle,
    /// The seed.
    pub seed: u64,
    /// The temperature that was sent.
    pub temperature: Option<f64>,
    /// Rounds of a task at most.
    pub rounds: u32,
    /// What was fed back.
    pub feedback: FeedbackKey,
    /// Answers to each task.
    pub samples: u64,
    /// The k of Pass@k.
    pub pass_at: Vec<u64>,
    /// What the form of replies is worth.
    pub csr_format: FormatKey,
    /// The tasks by name, in their order.
    pub tasks: Vec<String>,
    /// SHA-256 of the texts of all tasks: those of the program, and a file of one's own.
    pub tasks_sha256: String,
    /// SHA-256 of all texts that a model is sent.
    pub prompts_sha256: String,
    /// The seed of panels and perturbations.
    pub panel_seed: u64,
    /// Whether panel Q is a real stock.
    pub is_real: bool,
    /// SHA-256 of each panel's bars.
    pub panels_sha256: BTreeMap<PanelKind, String>,
    /// What functions are run in.
    pub sandbox: SandboxRecord,
}

impl FactorCodeHeader {
    pub(super) fn new(
        (config, cell, model): (&FactorCodeConfig, &FactorCodeCell, &AskedModel),
        (tasks, tasks_sha256): (&FactorTasks, String),
        panels: &FactorPanels,
        (sandbox, program): (SandboxRecord, &ProgramRecord),
    ) -> Self {
        Self {
            benchmark: BENCHMARK.to_owned(),
            format: FORMAT,
            ktd: env!("CARGO_PKG_VERSION").to_owned(),
            program: Some(program.clone()),
            cell: cell.id(),
            agent: cell.agent.clone(),
            model: model.agent.model_name().to_owned(),
            style: cell.style,
            seed: cell.seed,
            temperature: model.agent.temperature(),
            rounds: config.rounds,
            feedback: config.feedback_key(),
            samples: config.samples,
            pass_at: config.pass_at.clone(),
            csr_format: config.csr_format,
            tasks: tasks.as_slice().iter().map(|task| task.id.to_string()).collect(),
            tasks_sha256,
            prompts_sha256: ktd_prompts::factor_code::factor_code_hash(),
            panel_seed: config.panel_seed,
            is_real: panels.is_real(),
            panels_sha256: panel_hashes(panels),
            sandbox,
        }
    }

    /// Reads the header of a bundle that this program can judge again.
    ///
    /// # Errors
    /// [`CodeError`] for a file that is none, of another benchmark, or made with other texts.
    pub fn read(path: &Path) -> Result<Self, CodeError> {
        let header: Self = parse_json(path, &read_bounded(path, HEADER_LIMIT_BYTES)?)?;
        let texts = ktd_prompts::factor_code::factor_code_hash();
        if header.benchmark == BENCHMARK && header.format == FORMAT && header.prompts_sha256 == texts {
            return Ok(header);
        }
        Err(CodeError::input(
            format!(
                "{}: it was made with other texts or of another benchmark",
                path.display()
            ),
            "use the version of ktd that made it",
        ))
    }

    /// By which rules its functions are judged.
    #[must_use]
    pub const fn rules(&self) -> AccuracyRules {
        AccuracyRules {
            gates_format: matches!(self.csr_format, FormatKey::Gate),
            ..AccuracyRules::DEFAULT
        }
    }

    /// The cell.
    pub(super) fn cell(&self) -> FactorCodeCell {
        FactorCodeCell {
            agent: self.agent.clone(),
            style: self.style,
            seed: self.seed,
        }
    }

    /// Whether its box was one.
    #[must_use]
    pub const fn is_boxed(&self) -> bool {
        self.sandbox.isolation.counts()
    }
}

/// SHA-256 of the texts of tasks.
pub(super) fn tasks_sha256(own: Option<&str>) -> String {
    let text = format!("{}\0{}", FactorTasks::compiled_in_text(), own.unwrap_or_default());
    sha256_hex(text.as_bytes())
}

/// SHA-256 of each panel's bars, as files hold them.
pub(super) fn panel_hashes(panels: &FactorPanels) -> BTreeMap<PanelKind, String> {
    let hash = |kind: PanelKind| (kind, sha256_hex(&bars_csv(panels.bars(kind))));
    PanelKind::ALL.map(hash).into_iter().collect()
}

#[derive(Deserialize)]
struct BenchmarkName {
    benchmark: Option<String>,
}

/// Whether a folder is a bundle of the factor benchmark: other bundles have another header.
#[must_use]
pub fn is_factor_code(folder: &Path) -> bool {
    let path = folder.join("header.json");
    let read = read_bounded(&path, HEADER_LIMIT_BYTES).ok();
    let name = read.and_then(|bytes| parse_json::<BenchmarkName>(&path, &bytes).ok());
    name.and_then(|name| name.benchmark).as_deref() == Some(BENCHMARK)
}
