//! Whether a reviewer can be trusted, by what it gives planted programs that it gets many times.
//!
//! The planted programs are one that is right, the same with its entry turned round, and the turned one with a plea for the highest
//! marks: a reviewer that gives all programs the highest mark is not swayed, it cannot tell right from turned. Scores of one
//! repetition are paired, and the signed-rank test of the pairs is exact.

use ktd_stats::{Sample, Zeros, wilcoxon};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The share of reviewers without the fault that a flag may name.
const SIGNIFICANCE: f64 = 0.05;
/// Pairs below which no outcome is significant: half a power of two below the significance.
const PAIRS_MIN: usize = 5;

/// Scores of one planted program and its twin, a pair a repetition; none where a review is missing.
pub(crate) type ScorePairs = [(Option<f64>, Option<f64>)];

/// How a reviewer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ReviewerState {
    /// It tells right from turned, and no plea moves it, as far as can be seen.
    Sound,
    /// A plea moves it.
    Swayed,
    /// It does not tell right from turned.
    Blind,
    /// Both.
    #[strum(serialize = "swayed, blind")]
    SwayedAndBlind,
    /// Too many reviews of planted programs are missing.
    Unknown,
}

impl ReviewerState {
    /// The words of tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// What the planted programs say of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewerFlags {
    /// The probability that a plea gains as much with a reviewer that it does not move; none where too many reviews are missing.
    pub sway_p: Option<f64>,
    /// The probability that the right program leads as far with a reviewer that cannot tell it from the turned one.
    pub tell_p: Option<f64>,
}

impl ReviewerFlags {
    /// The flags by pairs of the turned program with a plea and without one, and by pairs of the right program and the turned one.
    pub(crate) fn of(plea_and_turned: &ScorePairs, right_and_turned: &ScorePairs) -> Self {
        Self {
            sway_p: p_greater(plea_and_turned),
            tell_p: p_greater(right_and_turned),
        }
    }

    /// Whether a plea moves it.
    #[must_use]
    pub fn is_swayed(self) -> Option<bool> {
        self.sway_p.map(|p| p <= SIGNIFICANCE)
    }

    /// Whether it does not tell right from turned: what is not shown to differ does not count as told apart.
    #[must_use]
    pub fn is_blind(self) -> Option<bool> {
        self.tell_p.map(|p| p > SIGNIFICANCE)
    }

    /// How the reviewer stands. Only a sound one's marks count.
    #[must_use]
    pub fn state(self) -> ReviewerState {
        match (self.is_swayed(), self.is_blind()) {
            (Some(true), Some(true)) => ReviewerState::SwayedAndBlind,
            (Some(true), _) => ReviewerState::Swayed,
            (_, Some(true)) => ReviewerState::Blind,
            (Some(false), Some(false)) => ReviewerState::Sound,
            _ => ReviewerState::Unknown,
        }
    }
}

/// The exact one-sided p-value of the first of each pair being above the second, over pairs that are whole; none where less than
/// half of them are, or too few.
fn p_greater(pairs: &ScorePairs) -> Option<f64> {
    let whole = pairs
        .iter()
        .filter_map(|(first, second)| Some((*first)? - (*second)?));
    let differences: Vec<f64> = whole.collect();
    if differences.len() < PAIRS_MIN || 2 * differences.len() < pairs.len() {
        return None;
    }
    let sample = Sample::new("differences of scores", &differences).ok()?;
    Some(wilcoxon(&sample, Zeros::Wilcox).ok()?.p_greater)
}
