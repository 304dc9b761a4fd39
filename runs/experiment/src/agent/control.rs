//! Controls: agents of this program that know real names and days behind a mask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A control: it is never a language model, and what it knows is not what a mask shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// Perfect foresight of the next opens: how far skill could go, and proof that the board sees skill.
    Oracle,
    /// A machine-learning baseline: predictions made elsewhere, traded inside the track.
    Signals(SignalsControl),
}

/// A player of predictions that were made elsewhere, by real code and date.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalsControl {
    /// CSV or Parquet file with the columns `date`, `code`, `score`, relative to the experiment file. It stands in the
    /// header, which may be published.
    pub scores: PathBuf,
    /// SHA-256 of the file. Headers write it; an experiment file may name the one that it means.
    pub scores_sha256: Option<String>,
    /// From scores to holdings.
    pub strategy: SignalStrategy,
}

/// From scores to holdings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignalStrategy {
    /// The twenty highest scores; a stock held is replaced only by one whose score is higher by more than a round trip
    /// costs. Scores are expected returns of a day.
    Top20,
    /// Qlib's `TopkDropoutStrategy`: a tenth of the places is given to better stocks each day.
    TopkDropout,
}

/// What files call a control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ControlName {
    Oracle,
    Signals,
}

impl Control {
    pub(super) const fn name(&self) -> ControlName {
        match self {
            Self::Oracle => ControlName::Oracle,
            Self::Signals(_) => ControlName::Signals,
        }
    }

    /// The score file that it plays, where it plays one.
    #[must_use]
    pub const fn signals(&self) -> Option<&SignalsControl> {
        match self {
            Self::Oracle => None,
            Self::Signals(signals) => Some(signals),
        }
    }
}
