//! What the mask takes away before, across and after a model's training cutoff, and what market each window was.

use super::{Bounds, Gap, GapKind};
use ktd_masking::{Mode, Numeric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What market a window was, by its benchmark alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarketRegime {
    /// The benchmark gained enough, and more than it fell in between.
    Bull,
    /// It lost enough.
    Bear,
    /// Neither.
    Sideways,
}

impl MarketRegime {
    /// The word of tables and pages.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Bull => "bull",
            Self::Bear => "bear",
            Self::Sideways => "sideways",
        }
    }
}

/// A window's regime with what it follows from.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowRegime {
    /// What market it was.
    pub regime: MarketRegime,
    /// Total return of the benchmark over the window.
    pub total_return: f64,
    /// Its largest fall from a peak within the window, positive.
    pub max_drawdown: f64,
}

/// Where windows lie beside a training cutoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutoffSide {
    /// Their last day is the cutoff's or earlier: the model may have read of all of it.
    Before,
    /// They hold days on both sides.
    Across,
    /// Their first day is later: the model cannot have read of it.
    After,
}

impl CutoffSide {
    /// The word of tables and pages.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Across => "across",
            Self::After => "after",
        }
    }
}

/// The memory gap of one agent in the windows on one side of its training cutoff.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutoffGap {
    /// The agent.
    pub agent: String,
    /// The last day of its training data, as its experiment file states it.
    pub cutoff: String,
    /// The decision mode.
    pub mode: Mode,
    /// Blinded with these numbers.
    pub numeric: Numeric,
    /// Whether the bright runs had the same numbers.
    pub kind: GapKind,
    /// On which side its windows lie.
    pub side: CutoffSide,
    /// The windows, each with its gap. One that holds another window is left out.
    pub windows: Vec<WindowGap>,
    /// Means over these windows.
    pub mean: Gap,
    /// How sure the mean of total return is; none below two windows, and where they do not differ.
    pub total_return: Option<GapTest>,
    /// The same of selection.
    pub selection: Option<GapTest>,
    /// Beside the windows before the cutoff; on the side after alone, where there are both.
    pub against_before: Option<SideTest>,
}

/// Gaps of total return before a cutoff against those after it: Mann and Whitney's test of windows that share no day.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideTest {
    /// The mean before less the mean after.
    pub difference: f64,
    /// Two-sided p.
    pub p: f64,
    /// Whether `p` counts all orders: at most eight windows on one side, none tied; else it is normal.
    pub is_exact: bool,
}

/// How sure a mean memory gap is, by what windows that share no day differ by.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GapTest {
    /// The 95 % interval of the mean: Student's t.
    pub interval: Bounds,
    /// Two-sided p of the signed-rank test that nothing is taken away.
    pub p: f64,
    /// Whether `p` counts all signs: up to 60 windows; else it is normal.
    pub is_exact: bool,
    /// Smallest p that so many windows can reach.
    pub least_p: f64,
}

/// The memory gap in one window.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowGap {
    /// The window.
    pub window: String,
    /// What market it was; none where the benchmark lacks a day.
    pub regime: Option<MarketRegime>,
    /// Bright minus blinded.
    pub gap: Gap,
}
