//! Rows of a benchmark's report.

use crate::key::ModelFamily;
use crate::switch::Switch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of a protocol and its gains over the reference, all else equal: of the seed whose gain is the median.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GainRow {
    /// The model.
    pub model: ModelFamily,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: Switch,
    /// Seeds behind the median: those that have a gain, or all where none has one.
    pub seeds: usize,
    /// Test days.
    pub days: usize,
    /// Annual ratio of mean and deviation of daily returns, after 5 hundredths of a percent a turnover.
    pub sharpe: Option<f64>,
    /// Why there is no ratio, as a stable word.
    pub undefined: Option<String>,
    /// That ratio less the reference's: the leakage gain.
    pub gain: Option<f64>,
    /// The smallest gain of a seed.
    pub gain_low: Option<f64>,
    /// The largest gain of a seed.
    pub gain_high: Option<f64>,
    /// Mean daily rank correlation of scores and labels.
    pub rank_ic: Option<f64>,
    /// Mean daily area under the receiver's curve.
    pub auc: Option<f64>,
    /// Mean daily turnover, at most 2.
    pub turnover: Option<f64>,
    /// The largest loss from a peak, a share.
    pub max_drawdown: f64,
    /// The cost in hundredths of a percent at which the mean return is 0.
    pub break_even_bps: Option<f64>,
    /// The rank correlation less the reference's.
    pub rank_ic_gain: Option<f64>,
    /// The area less the reference's.
    pub auc_gain: Option<f64>,
    /// The turnover less the reference's.
    pub turnover_gain: Option<f64>,
    /// The largest loss less the reference's.
    pub max_drawdown_gain: f64,
    /// 95 % interval of the gain, by days and over seeds, lower end; none where nothing differs from the reference.
    pub gain_interval_low: Option<f64>,
    /// Its upper end.
    pub gain_interval_high: Option<f64>,
    /// Two-sided p-value of no gain, by days.
    pub p: Option<f64>,
    /// The same after Holm, over all gains of the report.
    pub p_holm: Option<f64>,
    /// The smallest true gain that is told from none in nine of ten draws, by itself.
    pub detectable_gain: Option<f64>,
}

impl GainRow {
    /// Whether the gain is told from none beside all others of the report; `None` where nothing differs from the reference.
    #[must_use]
    pub fn is_distinguishable(&self) -> Option<bool> {
        const SIGNIFICANCE: f64 = 0.05;
        Some(self.p_holm? <= SIGNIFICANCE)
    }
}

/// Gains year by year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct YearRow {
    /// The model.
    pub model: ModelFamily,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: Switch,
    /// Gains by year.
    pub gains: Vec<(i32, f64)>,
    /// Their mean.
    pub mean: Option<f64>,
    /// Student's 95 % interval of the mean over years, lower end; none of fewer than five.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Years above 0.
    pub positive: usize,
    /// One-sided p of the exact signed-rank test, by itself: the verdict on a gain is that of its days.
    pub p_greater: Option<f64>,
}

/// Ratios at each cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostRow {
    /// The model.
    pub model: ModelFamily,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: Switch,
    /// Cost in hundredths of a percent and the ratio after it.
    pub sharpe: Vec<(f64, Option<f64>)>,
}

/// A weak protocol over all models: what a switch that is no leak of direction comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlRow {
    /// The protocol.
    pub protocol: Switch,
    /// Models and horizons that have a gain.
    pub runs: usize,
    /// The mean of their gains.
    pub mean: Option<f64>,
    /// The largest absolute gain.
    pub largest: Option<f64>,
    /// How many of their gains are told from none; none where nothing differs from the reference.
    pub distinguishable: Option<usize>,
}
