//! What is kept of an alpha once its scores are gone.

use ktd_alphas::{DaySeries, DaySpread, FigureRow, exact_series};
use serde::{Deserialize, Serialize};

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
