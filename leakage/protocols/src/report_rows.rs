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
    /// The absolute gain that one more panel without a signal exceeds at most once in twenty times; none of the reference, of
    /// the two dominant protocols, and where too few such panels have a gain.
    pub noise_band: Option<f64>,
}

impl GainRow {
    /// Whether a gain lies beyond its noise band; `None` without a band.
    #[must_use]
    pub fn is_distinguishable(&self) -> Option<bool> {
        Some(self.noise_band? < self.gain?.abs())
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
    /// Student's 95 % interval of the mean over years, lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Years above 0.
    pub positive: usize,
    /// One-sided p of the exact signed-rank test.
    pub p_greater: Option<f64>,
    /// The same after Holm, over the models of the horizon and protocol.
    pub p_holm: Option<f64>,
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
    /// Of those with a noise band, how many gains lie beyond it; none without a band.
    pub distinguishable: Option<usize>,
}
