//! What is kept of an alpha once its scores are gone, and what the units of an evaluation come to.

use crate::alpha_report::AlphaReport;
use ktd_alphas::{DaySeries, DaySpread, FigureRow, exact_series};
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_file;
use ktd_study::{StudyError, UnitId};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;

/// The alphas of a block, a line each, in the folder of its unit.
pub(crate) const ALPHAS: &str = "alphas.jsonl.zst";

/// A unit of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum AlphaUnit {
    /// Formulas that are evaluated together, by their places among those of all pools.
    Block {
        /// Of the first.
        first: usize,
        /// Of the one after the last.
        end: usize,
    },
    /// Pools and choices, of what the blocks came to.
    Pools,
}

impl AlphaUnit {
    pub(crate) fn block_id(place: usize) -> UnitId {
        UnitId::from(format!("block.{:04}", place + 1))
    }

    pub(crate) const fn block(range: &Range<usize>) -> Self {
        Self::Block {
            first: range.start,
            end: range.end,
        }
    }
}

/// What a unit of an evaluation came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum AlphaUnitFound {
    /// Of [`AlphaUnit::Block`].
    Block(EvaluatedBlock),
    /// Of [`AlphaUnit::Pools`].
    Pools(Box<AlphaReport>),
}

/// A block whose alphas lie in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluatedBlock {
    /// SHA-256 of the file.
    pub(crate) sha256: String,
    /// How often the least factor of noise held, which is the same in every block.
    pub(crate) raised: usize,
}

impl EvaluatedBlock {
    /// Its alphas, from the folder of its unit.
    pub(crate) fn alphas(&self, folder: &Path) -> Result<Vec<AlphaFound>, StudyError> {
        let path = folder.join(ALPHAS);
        if sha256_file(&path)? != self.sha256 {
            return Err(StudyError::difference(
                format_args!("{}: it differs from the file that its block made", path.display()),
                "the record was changed: run the study again into another folder",
            ));
        }
        Ok(LineKind::Probes.open(&path)?.values()?)
    }
}

/// What is kept of an alpha when its scores are not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AlphaFound {
    pub(crate) is_turned: bool,
    /// Its mean rank correlation on train days, where there is one.
    pub(crate) train_rank_ic: Option<f64>,
    /// Mean and deviation of each day, for its z-scores.
    pub(crate) spreads: Vec<DaySpread>,
    /// By split.
    pub(crate) splits: Vec<SplitFound>,
}

/// What an alpha is worth on a split.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SplitFound {
    pub(crate) row: FigureRow,
    pub(crate) is_constant: bool,
    /// Daily returns of its portfolio after the costs of the study.
    #[serde(with = "exact_series")]
    pub(crate) returns: DaySeries,
    /// Its figures by year.
    pub(crate) years: Vec<(String, FigureRow)>,
}
