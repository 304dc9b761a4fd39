//! One row of a board: all that is recorded of an agent on a track.

use super::{Bounds, Cohort, Comparability, Gap, MurphyParts, OrderCounts, RankBounds};
use crate::by_basis::ByBasis;
use crate::metric::BoardMetric;
use ktd_attribution::account::WeightBasis;
use ktd_bundle::summary::Metric;
use ktd_experiment::provider::ForceLevel;
use ktd_record::signer_mark::SignerMark;
use ktd_stats::moments::count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One agent on a track.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaderboardRow {
    /// Its name.
    pub agent: String,
    /// What it is.
    pub cohort: Cohort,
    /// How submissions were forced: parse failures compare within a level only. None for a reference.
    pub force: Option<ForceLevel>,
    /// Its seeds, ascending.
    pub seeds: Vec<u64>,
    /// Names of the models that answered, as the provider says: more than one is a drift.
    pub served_models: Vec<String>,
    /// Counters over all seeds.
    pub faults: Faults,
    /// What became of its orders. None for a reference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub orders: Option<OrderCounts>,
    /// What must be equal before it is compared with another row. None for a reference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comparability: Option<Comparability>,
    /// The last day of its training data, as its experiment file states it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cutoff: Option<String>,
    /// Metrics over seeds. Excess return and information ratio are against the track's benchmark of total return.
    pub metrics: BTreeMap<BoardMetric, SeedStat>,
    /// Rank by total return; none for what is not ranked.
    pub return_rank: Option<usize>,
    /// Rank by selection.
    pub alpha_rank: Option<usize>,
    /// `return_rank - alpha_rank`: above 0 is better judged by skill.
    pub delta_rank: Option<i64>,
    /// 95 % interval of the rank by selection: from the best to the worst end under any setting of the declared family. Agents
    /// that decided too little for a test may stand anywhere in it.
    pub rank_interval: Option<RankBounds>,
    /// The same under the default settings alone: days and seeds.
    pub rank_interval_default: Option<RankBounds>,
    /// Why an agent that could have a rank has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unranked_reason: Option<String>,
    /// Share of replicates in which it is first; none of one alone, and where an agent that decided too little for a test is ranked too.
    pub first_share: Option<f64>,
    /// Where the return came from, by basis; none for what has no holdings.
    pub attribution: Option<ByBasis<Contribution>>,
    /// Why there is no attribution.
    pub unattributed_reason: Option<String>,
    /// Selection and its uncertainty, on the basis of ranks.
    pub selection: Option<Selection>,
    /// What its size would cost; none for what has no rank.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size_cost: Option<SizeCost>,
    /// Mean exposure to each style over invested days, weights over NAV.
    pub exposures: Vec<f64>,
    /// Daily exposures, means over seeds: one series a style, null on a day that could not be fitted.
    pub daily_exposures: Vec<Vec<Option<f64>>>,
    /// Daily series, means over seeds.
    pub curves: Option<Curves>,
    /// Stated confidence against what happened.
    pub reliability: Option<CalibrationRecord>,
    /// What the mask took away: bright minus blinded, same window and mode, and the same numbers where both have them. None
    /// for a reference.
    pub memory_gap: Option<Gap>,
    /// Whether the mask of its runs is certified, and against whom. None for a reference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mask: Option<ktd_probes::judge::CertificationMark>,
    /// Whether an outside agent ran in a box in every run; where it did not, it could read what lies on the machine. None for
    /// what is asked by this program.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boxed: Option<bool>,
    /// Who published its runs. Agents of one id whose runs different keys signed are rows of their own, `ID@FINGERPRINT`.
    /// None for a reference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signer: Option<SignerMark>,
}

impl LeaderboardRow {
    /// Selection over the window, linked, on the basis of ranks: what it added up to. None for what has no holdings, and where
    /// nothing could be split.
    #[must_use]
    pub fn linked_selection(&self) -> Option<f64> {
        self.attribution
            .as_ref()?
            .get(WeightBasis::HEADLINE)
            .carino
            .selection
    }

    /// Selection a day over a window of so many days: also of what is attributed and has no tests, such as a reference.
    #[must_use]
    pub fn selection_a_day(&self, days: usize) -> Option<f64> {
        let tested = self.selection.as_ref().map(|selection| selection.a_day);
        tested.or_else(|| {
            let sum = &self.attribution.as_ref()?.get(WeightBasis::HEADLINE).sum;
            Some(sum.selection? / count(days.max(1)))
        })
    }
}

/// Counters that are never mixed, and money.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Steps that the infrastructure did not take away, of all steps.
    pub coverage: Option<f64>,
    /// The model's mistakes.
    pub model: usize,
    /// Failed attempts of the infrastructure.
    pub infrastructure: usize,
    /// Steps without a good submission.
    pub fallbacks: usize,
    /// Steps in which the model decided to hold.
    pub holds: usize,
    /// Calls of `submit_action` during research: wishes to submit, whose orders do not count.
    pub early_submissions: usize,
    /// What all seeds have paid for replies whose tokens are known, US dollars, where prices are known.
    pub paid_usd: Option<f64>,
    /// The same with the most of sends that nobody answered, or whose tokens nobody reported.
    pub at_most_usd: Option<f64>,
}

/// A figure over seeds.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedStat {
    /// Median, or the reason why there is none.
    pub median: Metric,
    /// Quartiles (type 7); with fewer than five seeds look at `values`.
    pub quartiles: Option<Bounds>,
    /// One value a seed, where it is defined, in the order of the seeds.
    pub values: Vec<f64>,
}

/// Linked contributions of one basis: means over seeds.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contribution {
    /// Carino-linked: adds up to the geometric return.
    pub carino: Linked,
    /// In shares of the initial cash: adds up to the same return, in money.
    pub pnl: Linked,
    /// Plain sums of daily contributions.
    pub sum: Linked,
    /// Largest daily difference between the return and the sum of its parts, over all seeds.
    pub daily_gauge: f64,
}

/// Parts of a return. Those that the factor model splits it into are none where it could be fitted on no day, for want of names; what
/// held nothing has nothing to split, and each is 0.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linked {
    /// Common factor.
    pub common: Option<f64>,
    /// Of `common`, what it earned by when it was invested: invested weight less its mean over the days, times the factor return.
    pub market_timing: Option<f64>,
    /// Styles, in the order of the model's styles; empty where nothing could be split.
    pub styles: Vec<f64>,
    /// Their sum.
    pub style: Option<f64>,
    /// Of `style`, what it earned by when it held them: exposures less their means over the days, times the factor returns.
    pub style_timing: Option<f64>,
    /// Specific return of what was held, by the settings' rule of residuals.
    pub selection: Option<f64>,
    /// The same by the residuals of the regression; what is missing to `selection` stands in common and styles there.
    pub selection_fitted: Option<f64>,
    /// Of `selection`, what the other names of each holding's sector selected on the mean; 0 where the panel has no sectors.
    pub selection_sector: Option<f64>,
    /// What the basis leaves to the moment of the day's trades.
    pub execution: f64,
    /// Fills away from the open.
    pub slip: f64,
    /// Fees.
    pub cost: f64,
    /// Rounding of corporate actions.
    pub corporate: f64,
    /// P&L of holdings that the model does not cover.
    pub unattributed: f64,
    /// The whole.
    pub portfolio: f64,
    /// The whole less its parts.
    pub gauge: f64,
    /// Standard error of common and style against selection that the fit's own uncertainty gives; `None` but for
    /// plain sums of what was split.
    pub split_standard_error: Option<f64>,
}

/// Why nothing of a return was split.
pub(crate) const UNSPLIT: &str = "no day could be fitted: all of it is unattributed";

/// Selection a day and its uncertainty, in shares of the account: plain daily selection, means over days and seeds. What it added up
/// to over the window, linked, is a part of the contribution.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Selection a day.
    pub a_day: f64,
    /// Its 95 % interval, of days and seeds.
    pub interval: Option<Bounds>,
    /// Decisions that are independent of each other: the sum of the holdings' average uniqueness; a mean over seeds.
    pub independent_decisions: f64,
    /// Newey-West t of the daily series.
    pub newey_west_t: Metric,
    /// 95 % band of the selection a day of random portfolios with the same count, weights and holding periods.
    pub null_band: Option<Bounds>,
    /// Mean of those portfolios.
    pub null_mean: Option<f64>,
    /// Share of them below the account's.
    pub null_percentile: Option<f64>,
    /// Probabilistic Sharpe ratio of the daily selection against 0.
    pub psr: Metric,
    /// The same deflated by the number of trials.
    pub dsr: Metric,
}

/// What the size of an account would cost: no rule of the exchange, and in no other figure.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeCost {
    /// Cost a day as a share of the account, per root of a CNY of capital: at a capital it is this times the root of it.
    pub a_day_per_root_cny: f64,
    /// The capital, CNY, at which it eats the selection; none where there is none to eat, or nothing was traded.
    pub break_even_cny: Option<f64>,
    /// The least capital, CNY, at which an agent of a lower rank passes it.
    pub passed_at_cny: Option<f64>,
    /// Which one.
    pub passed_by: Option<String>,
}

/// Daily series at each close, means over seeds: they are those of one account that gives each seed an equal share of the
/// cash before the first day, and leaves it there.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// Net asset value, 1 before the first day.
    pub nav: Vec<f64>,
    /// Fall of `nav` from its highest so far, positive: that of a seed may be deeper.
    pub drawdown: Vec<f64>,
    /// Common, linked up to the day; with the next three it adds up to `nav - 1`. It and the next two are empty where nothing could be
    /// split.
    pub common: Vec<f64>,
    /// Styles together, linked up to the day.
    pub style: Vec<f64>,
    /// Selection, linked up to the day.
    pub selection: Vec<f64>,
    /// Execution, slippage, cost, corporate rounding and unattributed, linked up to the day.
    pub other: Vec<f64>,
}

/// Stated confidence against what happened, over all seeds.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationRecord {
    /// Expected calibration error, ten bins.
    pub ece: Metric,
    /// 95 % interval, resampling steps; none of one step.
    pub ece_interval: Option<Bounds>,
    /// Filled orders with a known outcome.
    pub orders: usize,
    /// Bins from 0 to 1.
    pub bins: Vec<CalibrationBin>,
    /// Brier score.
    pub brier: Metric,
    /// Its parts.
    pub murphy: Option<MurphyParts>,
}

/// A bin of stated confidence.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationBin {
    /// Orders in it.
    pub orders: usize,
    /// Their mean confidence.
    pub confidence: Option<f64>,
    /// Share that came true.
    pub accuracy: Option<f64>,
}
