//! The leaderboard as data: everything that a table or a picture shows, and nothing that must still be computed.

mod comparability;
mod conduct;
mod contrast;
mod figures;
mod gap;
mod memory;
mod pooled;
mod row;
mod window_mark;

pub use comparability::Comparability;
pub use conduct::{LimitOpenCounts, OrderCounts, RejectedOrders};
pub use contrast::{Contrast, ContrastMetric, ContrastSides, Pair};
pub use figures::{Bounds, DateBounds, FactorVif, MurphyParts, RankBounds, SpaP};
pub use gap::{Gap, GapKind};
pub use memory::{CutoffGap, CutoffSide, GapTest, MarketRegime, SideTest, WindowGap, WindowRegime};
pub use pooled::{PooledRanking, PooledRow, PooledSeparation, PooledSpan};
pub(crate) use row::UNSPLIT;
pub use row::{
    CalibrationBin, CalibrationRecord, Contribution, Curves, Faults, LeaderboardRow, Linked, SeedStat,
    Selection, SizeCost,
};

pub use window_mark::WindowMark;

use crate::BoardError;

use ktd_bundle::summary::Metric;
use ktd_experiment::mask_arm::{MaskInstruction, arm_label};
use ktd_io::sha256::sha256_hex;
use ktd_masking::{Level, Mode, Numeric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `leaderboard.json`.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaderboard {
    /// Version of this file's form.
    pub format: u32,
    /// What it is called: the experiments' names.
    pub title: String,
    /// Version of the program that made it.
    pub ktd: String,
    /// The rules that all its bundles share; bundles that differ in one of them are not ranked together.
    pub protocol: Protocol,
    /// The factor model.
    pub model: ModelRecord,
    /// How uncertainty was resampled.
    pub resampling: Resampling,
    /// One ranking each: a window, a mask and a mode. The first is the headline.
    pub tracks: Vec<Track>,
    /// Rankings over several windows together, one a mask and mode that has two windows apart.
    pub pooled: Vec<PooledRanking>,
    /// Bright against blinded, paired.
    pub contrasts: Vec<Contrast>,
    /// Memory gaps before, across and after the training cutoff of each agent that names one.
    #[serde(default)]
    pub cutoff_gaps: Vec<CutoffGap>,
    /// How the factor model fared, from the first day of any window to the last of any.
    pub health: ModelHealth,
    /// Selection ranks of the headline under other settings of the factor model.
    pub sensitivity: Vec<SensitivityRow>,
    /// Whether it tells of windows that are not opened, which its owner alone may see.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub names_closed_windows: bool,
    /// Episodes of the experiments that have not ended, those of their plans among them; left out where all have.
    #[serde(skip_serializing_if = "is_none_of_them", default)]
    pub unfinished: usize,
    /// SHA-256 of this document with this field empty: page and manifest name it too.
    pub content_sha256: String,
    /// What a reader must know: overlapping windows, missing index days, bundles left out and why.
    pub notes: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_none_of_them(count: &usize) -> bool {
    *count == 0
}

impl Leaderboard {
    /// The board with the hash of its content.
    ///
    /// # Errors
    /// [`BoardError::Input`] when it cannot be JSON.
    pub fn sealed(mut self) -> Result<Self, BoardError> {
        self.content_sha256.clear();
        let bytes = serde_json::to_vec(&self).map_err(|error| {
            BoardError::input(format!("the board cannot be JSON: {error}"), "report this defect")
        })?;
        self.content_sha256 = sha256_hex(&bytes);
        Ok(self)
    }
}

/// SHA-256 or BLAKE3 of each part of the protocol, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The panel.
    pub data: String,
    /// The exchange's rules.
    pub rules: String,
    /// The prompts.
    pub prompts: String,
    /// The tools' names, descriptions, schemas and limits, and the session's limits.
    pub tools: String,
    /// Definitions of metrics, the factor model's configuration, and the factors that its screen kept.
    pub metrics: String,
}

/// The factor model that was fitted.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// Its configuration in one line a key, as hashed.
    pub configuration: String,
    /// SHA-256 of panel, configuration and days.
    pub fit_sha256: String,
    /// Names of the style factors kept, in the order of the columns.
    pub styles: Vec<String>,
    /// First and last day of the calibration window of the VIF screen; none where the panel has no days before.
    pub calibration: Option<DateBounds>,
    /// The VIF screen, round by round.
    pub vif_path: Vec<VifRound>,
    /// VIF above which a factor is dropped.
    pub vif_threshold: f64,
}

/// One round of the VIF screen.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VifRound {
    /// The factors still there.
    pub vif: Vec<FactorVif>,
    /// The factor that this round dropped.
    pub dropped: Option<String>,
}

/// How uncertainty was resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resampling {
    /// Replicates of every stationary bootstrap.
    pub replicates: u32,
    /// Their seed.
    pub seed: u64,
    /// Portfolios of each null band.
    pub null_portfolios: u32,
}

/// Who is on the board.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cohort {
    /// A language model.
    Model,
    /// A fitted predictor that is no language model.
    Learned,
    /// A fixed rule, outside this program.
    Rule,
    /// An outside agent that does not name its cohort.
    Outside,
    /// A built-in agent.
    #[strum(serialize = "built-in")]
    Builtin,
    /// A control: foresight, broken submissions or no trade; it has no rank and is in no family of tests.
    Control,
    /// A portfolio computed from the panel: an index or its members; it has no rank.
    Reference,
}

impl Cohort {
    /// Those that compete, in the order of tables.
    pub const RANKED: [Self; 5] = [
        Self::Model,
        Self::Learned,
        Self::Rule,
        Self::Outside,
        Self::Builtin,
    ];

    /// Whether its agents have ranks.
    #[must_use]
    pub const fn is_ranked(self) -> bool {
        !matches!(self, Self::Control | Self::Reference)
    }

    /// The word of tables and pages.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// One ranking: a window, a mask and a mode.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Track {
    /// The window's name.
    pub window: String,
    /// Which identifiers were hidden.
    pub level: Level,
    /// The level whose text explained identifiers, if this is a prompt-only control: it hides nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instruction: Option<MaskInstruction>,
    /// How numbers were shown.
    pub numeric: Numeric,
    /// The decision mode.
    pub mode: Mode,
    /// Who knew the days of the window before it was opened; none where the mask shows them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window_mark: Option<WindowMark>,
    /// Trading days; `day 1` and so on while the window is not opened.
    pub dates: Vec<String>,
    /// What excess return and information ratio are measured against: a benchmark of total return.
    pub benchmark_name: String,
    /// Its total return.
    pub benchmark_return: Metric,
    /// It at each close, 1 before the first day; empty where a day has no value.
    pub benchmark: Vec<f64>,
    /// The price index of the universe, which leaves dividends out, such as `price index SH000300`; none without one.
    pub price_index_name: Option<String>,
    /// Its change: no total return.
    pub price_index_return: Metric,
    /// It at each close, 1 before the first day; empty where a day has no level.
    pub price_index: Vec<f64>,
    /// What market the window was, by the benchmark alone; none where it lacks a day.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub regime: Option<WindowRegime>,
    /// Trials counted for deflated Sharpe ratios: every finished episode on these days found on disk, of any mask, mode,
    /// seed, prompts, tools and rules, shown or not; controls apart.
    pub trials: usize,
    /// Those of them that traded and are not alike, by which Sharpe ratios are deflated.
    pub distinct_trials: usize,
    /// Best first: by selection among the ranked; controls and references after them.
    pub leaders: Vec<LeaderboardRow>,
    /// Which differences are real.
    pub separation: Option<Separation>,
    /// What a reader of this ranking must know.
    pub notes: Vec<String>,
}

impl Track {
    /// Name of the level, or of the prompt-only control.
    #[must_use]
    pub const fn level_label(&self) -> &'static str {
        arm_label(self.level, self.instruction)
    }
}

/// Which differences of a track are real. Agents are named in the order of their rank by selection.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Separation {
    /// The agents.
    pub agents: Vec<String>,
    /// How sure it is that the row's selection is above the column's: 1 less half of the pair's p-value, a half of twins.
    pub win_share: Vec<Vec<f64>>,
    /// Whether a pair is not separable: its p-value by itself is above 0.1, or a setting of the declared family turns it.
    pub open: Vec<Vec<bool>>,
    /// Settings of the declared family under which ranks were computed beside the default.
    pub settings: Vec<String>,
    /// Pairs whose order a setting turns.
    pub turned: Vec<TurnedPair>,
    /// Places in `agents` of groups in which no pair is told apart when all pairs are judged at once, at 5 %.
    pub groups: Vec<Vec<usize>>,
    /// Probability of backtest overfitting.
    pub pbo: Metric,
    /// White's reality check: the best selection of all trials against the mean of luck.
    pub reality_check_p: Metric,
    /// Hansen's test of the same, studentised.
    pub spa_p: Option<SpaP>,
}

/// Two agents whose order hangs on a setting.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnedPair {
    /// The one that is above under the default.
    pub above: String,
    /// The other one.
    pub below: String,
    /// The settings under which it is not below.
    pub settings: Vec<String>,
}

/// How the factor model fared.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelHealth {
    /// Return days.
    pub dates: Vec<String>,
    /// R2 of each day's fit.
    pub r_squared: Vec<f64>,
    /// Names in each day's estimation set.
    pub names: Vec<usize>,
    /// Exposures imputed each day.
    pub imputed: Vec<usize>,
    /// Days whose cross-section was too thin to fit.
    pub thin_days: usize,
    /// The common factor and the styles.
    pub factors: Vec<StyleHealth>,
}

/// How one factor fared.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StyleHealth {
    /// Its name; `COMMON` for the intercept.
    pub name: String,
    /// Mean daily factor return.
    pub mean_return: f64,
    /// Its Newey-West t (Fama-MacBeth).
    pub newey_west_t: Option<f64>,
    /// Mean of |t| over days.
    pub mean_abs_t: f64,
    /// Share of days with |t| above 2.
    pub significant_share: f64,
    /// Days on which its column was dropped.
    pub dropped_days: usize,
}

/// Selection under another setting of the factor model.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivityRow {
    /// What was changed, in words.
    pub setting: String,
    /// Kendall's tau-b of the ranks by selection against the default.
    pub kendall_tau: Metric,
    /// Selection a day by agent, in the order of the headline's ranked agents.
    pub selection: Vec<f64>,
    /// Largest change of a daily selection against the default.
    pub largest_daily_change: f64,
}
