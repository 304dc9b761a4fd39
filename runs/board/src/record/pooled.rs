//! The ranking over several windows together.

use super::{Bounds, Cohort, RankBounds, Track, TurnedPair};
use ktd_experiment::mask_arm::{MaskInstruction, arm_label};
use ktd_masking::{Level, Mode, Numeric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Agents of one mask and mode, ranked by their mean over windows of selection a day.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledRanking {
    /// Which identifiers were hidden.
    pub level: Level,
    /// The level whose text explained identifiers, if this is a prompt-only control: it hides nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instruction: Option<MaskInstruction>,
    /// How numbers were shown.
    pub numeric: Numeric,
    /// The decision mode.
    pub mode: Mode,
    /// The windows that are pooled, by their last day; a day that several have counts in the first.
    pub windows: Vec<PooledSpan>,
    /// Windows that are left out, because too few of their days are in no pooled window before.
    pub left_out: Vec<String>,
    /// Best first; agents that lack a window after them.
    pub rows: Vec<PooledRow>,
    /// Which differences are real.
    pub separation: Option<PooledSeparation>,
}

impl PooledRanking {
    /// Name of the level, or of the prompt-only control.
    #[must_use]
    pub const fn level_label(&self) -> &'static str {
        arm_label(self.level, self.instruction)
    }

    /// Whether a track has its mask and mode.
    #[must_use]
    pub fn is_of(&self, track: &Track) -> bool {
        (self.level_label(), self.numeric, self.mode) == (track.level_label(), track.numeric, track.mode)
    }
}

/// A window that is pooled.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledSpan {
    /// Its name.
    pub window: String,
    /// Its first day.
    pub first: String,
    /// Its last day.
    pub last: String,
    /// Trading days that count in it.
    pub days: usize,
    /// Its other days, which count in a window before.
    pub counted_before: usize,
}

/// One agent over all windows.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledRow {
    /// Its name.
    pub agent: String,
    /// What it is.
    pub cohort: Cohort,
    /// Its rank; none where it lacks a window.
    pub rank: Option<usize>,
    /// Pooled windows that it lacks.
    pub missing: Vec<String>,
    /// Selection a day, a mean over seeds and then over windows, each of which weighs the same.
    pub selection_a_day: Option<f64>,
    /// Its 95 % interval over windows, days and seeds.
    pub interval: Option<Bounds>,
    /// 95 % interval of the rank: from the best to the worst end under any setting of the declared family.
    pub rank_interval: Option<RankBounds>,
    /// The same under the default settings alone.
    pub rank_interval_default: Option<RankBounds>,
    /// Share of replicates in which it is first.
    pub first_share: Option<f64>,
    /// Selection a day of each pooled window over the days that count in it, a mean over seeds; `null` where it is missing.
    pub by_window: Vec<Option<f64>>,
}

/// Which differences of a pooled ranking are real. Agents are named in the order of their ranks.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledSeparation {
    /// The agents.
    pub agents: Vec<String>,
    /// Share of replicates in which the row's selection is above the column's, a tie counting half.
    pub win_share: Vec<Vec<f64>>,
    /// Whether a pair is not separable: the share leaves its order open, or a setting of the declared family turns it.
    pub open: Vec<Vec<bool>>,
    /// Pairs whose order a setting turns.
    pub turned: Vec<TurnedPair>,
    /// Places in `agents` of groups that cannot be separated.
    pub groups: Vec<Vec<usize>>,
}
