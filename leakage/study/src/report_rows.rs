//! Rows of a benchmark's report.

use ktd_view::draw::TableCell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of a protocol and its gains over the reference, all else equal: of the seed whose gain is the median.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GainRow {
    /// The model.
    pub model: String,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: String,
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
    /// The ratio as a cell, with the reason where there is none.
    pub(super) fn sharpe_cell(&self) -> TableCell {
        match (self.sharpe, &self.undefined) {
            (Some(sharpe), _) => TableCell::Ratio(sharpe),
            (None, Some(reason)) => TableCell::Missing(reason.clone()),
            (None, None) => TableCell::Empty,
        }
    }

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
    pub model: String,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: String,
    /// Gains by year.
    pub gains: Vec<(i32, f64)>,
    /// Their mean.
    pub mean: Option<f64>,
    /// 95 % of the bootstrapped means, lower end.
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
    pub model: String,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: String,
    /// Cost in hundredths of a percent and the ratio after it.
    pub sharpe: Vec<(f64, Option<f64>)>,
}

/// A weak protocol over all models: what a switch that is no leak of direction comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlRow {
    /// The protocol.
    pub protocol: String,
    /// Models and horizons that have a gain.
    pub runs: usize,
    /// The mean of their gains.
    pub mean: Option<f64>,
    /// The largest absolute gain.
    pub largest: Option<f64>,
    /// Of those with a noise band, how many gains lie beyond it; none without a band.
    pub distinguishable: Option<usize>,
}

/// How the scores of ridge regression go with one piece of return around their stamp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileRow {
    /// The protocol.
    pub protocol: String,
    /// The piece: 2j - 1 is the night into the session j after the stamp, 2j that session.
    pub piece: i64,
    /// Days with a correlation.
    pub days: usize,
    /// Mean daily rank correlation.
    pub ic: Option<f64>,
    /// Its t by Newey and West.
    pub t: Option<f64>,
}

/// What the best tenth of ridge regression's scores earns at one fill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LadderRow {
    /// The protocol.
    pub protocol: String,
    /// Where orders are filled.
    pub fill: String,
    /// Annual ratio after 5 hundredths of a percent a turnover.
    pub sharpe: Option<f64>,
    /// Mean daily turnover.
    pub turnover: Option<f64>,
    /// Days traded.
    pub days: usize,
}
