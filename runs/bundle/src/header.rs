//! What an episode is, before it begins.

use ktd_experiment::branch::BranchRecord;
use ktd_experiment::config::{AgentConfig, SessionConfig, ToolLimits};
use ktd_experiment::data_record::DataRecord;
use ktd_experiment::drawn_windows::DrawRecord;
use ktd_experiment::mask_arm::{MaskArm, MaskInstruction, arm_label};
use ktd_experiment::price_table::PricesRecord;
use ktd_experiment::provider::Provider;
use ktd_experiment::recorded_rules::RecordedRules;
use ktd_experiment::window_config::WindowDates;
use ktd_io::FileError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::json_bytes;
use ktd_masking::{Level, MaskSettings, Mode, Numeric};
use ktd_record::program_record::ProgramRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// `header.json`. It holds no hidden date: those of a masked window are in `private/episode.json`.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`super::FORMAT_VERSION`].
    pub format: u32,
    /// Version of the program.
    pub ktd: String,
    /// The program that made it, by its sources; absent from bundles of earlier programs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub program: Option<ProgramRecord>,
    /// The experiment's name.
    pub experiment: String,
    /// The episode's identity in the experiment.
    pub cell: String,
    /// The agent.
    pub agent: AgentConfig,
    /// How its model is spoken to.
    pub provider: Arc<Provider>,
    /// What its tokens cost, where that is known. Prices are no part of the episode's identity: while it is unfinished
    /// they are those that it was last continued at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prices: Option<PricesRecord>,
    /// The window.
    pub window: WindowRecord,
    /// The decision mode.
    pub mode: Mode,
    /// The mask.
    pub mask: MaskRecord,
    /// The published seed.
    pub seed: u64,
    /// The data.
    pub data: DataRecord,
    /// SHA-256 over all prompt templates.
    pub prompts_sha256: String,
    /// SHA-256 over the tools' names, descriptions and schemas.
    pub tools_sha256: String,
    /// The exchange's rules.
    pub rules: Arc<RecordedRules>,
    /// The session's limits.
    pub session: SessionConfig,
    /// The tools' limits.
    pub tools: ToolLimits,
    /// Where the episode left another one, if it is a branch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<BranchRecord>,
}

impl Header {
    /// What a reader of a replay by the program `now` must know first: that another program made the bundle, or that the
    /// bundle does not say.
    #[must_use]
    pub fn another_program(&self, now: &ProgramRecord) -> Option<String> {
        let Some(recorded) = &self.program else {
            return Some(format!(
                "the bundle does not say which program made it; this one is {now}: what differs may be the program's"
            ));
        };
        (recorded.source_sha256 != now.source_sha256).then(|| {
            format!(
                "made by another program ({recorded}); this one is {now}: what differs may be the program's"
            )
        })
    }

    /// What the chain of events starts from: SHA-256 over the header as it is written, but for the prices, which may change
    /// while the episode is unfinished.
    ///
    /// # Errors
    /// [`FileError::Damaged`] when it cannot be JSON.
    pub fn genesis(&self) -> Result<String, FileError> {
        let identity = Self {
            prices: None,
            ..self.clone()
        };
        Ok(sha256_hex(&json_bytes(Path::new("header.json"), &identity)?))
    }
}

/// A window as far as it may be published.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowRecord {
    /// Its name.
    pub id: String,
    /// Trading days.
    pub steps: usize,
    /// First and last trading day, unless the mask hides days.
    pub dates: Option<WindowDates>,
    /// How it was drawn; absent of a window that whoever wrote the experiment knew.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub draw: Option<DrawRecord>,
}

/// A mask as far as it may be published.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskRecord {
    /// Which identifiers are hidden.
    pub level: Level,
    /// How numbers are shown.
    pub numeric: Numeric,
    /// The level whose text explains identifiers in the prompts, if the episode is a prompt-only control: its data are
    /// bright.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instruction: Option<MaskInstruction>,
    /// Binds the episode's key without telling it.
    pub commitment: String,
    /// Names what the mask shows and in which form (`mask_hash.rs`), for a certificate to refer to; absent from
    /// bundles of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hash: Option<String>,
}

impl MaskRecord {
    /// What is hidden, and whose text explains it.
    #[must_use]
    pub const fn arm(&self) -> MaskArm {
        MaskArm {
            settings: MaskSettings {
                level: self.level,
                numeric: self.numeric,
            },
            instruction: self.instruction,
        }
    }

    /// Name of the level, or of the prompt-only control.
    #[must_use]
    pub const fn level_label(&self) -> &'static str {
        arm_label(self.level, self.instruction)
    }
}

/// `private/episode.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateEpisode {
    /// The episode's mask key, 64 hexadecimal digits.
    pub mask_key: String,
    /// First trading day of the window.
    pub first_day: String,
    /// Last trading day of the window.
    pub last_day: String,
    /// The key of all windows of the draw, where this one was drawn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window_key: Option<String>,
    /// Where the panel was, for the convenience of replay.
    pub panel: Option<String>,
    /// SHA-256 over the other fields: nothing public can bind them without telling them.
    pub seal: String,
}

impl PrivateEpisode {
    /// The same with the seal that its other fields give.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        let panel = self.panel.as_deref().unwrap_or_default();
        let mut fields = vec![&*self.mask_key, &self.first_day, &self.last_day, panel];
        fields.extend(self.window_key.as_deref());
        self.seal = sha256_hex(fields.join("\n").as_bytes());
        self
    }
}
