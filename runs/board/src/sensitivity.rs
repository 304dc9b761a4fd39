//! Selection under other settings of the factor model: what moves it, and what does not.

use super::fitted::FittedModel;
use super::record::SensitivityRow;
use super::score::ScoredEpisode;
use crate::BoardError;
use ktd_attribution::SelectionSeries;
use ktd_attribution::account::{Attribution, WeightBasis, attribute};
use ktd_attribution::model::{Centering, FactorModel, ModelConfig, Residuals, Weighting};
use ktd_bundle::summary::Metric;
use ktd_env::factors::Winsor;
use ktd_stats::{Sample, kendall_tau};
use std::ops::Range;

/// Daily selections of all ranked agents' seeds, and their selections a day, by agent.
struct Selections {
    daily: Vec<Vec<f64>>,
    a_day: Vec<f64>,
}

/// One row a setting; `agents` are the ranked ones in order, each with its scores.
///
/// # Errors
/// [`BoardError::Input`] when a variant cannot be fitted.
pub(super) fn sensitivity(
    fitted: &FittedModel,
    agents: &[Vec<&ScoredEpisode>],
    days: Range<usize>,
) -> Result<Vec<SensitivityRow>, BoardError> {
    let base = selections(&fitted.model, agents, WeightBasis::HEADLINE);
    let mut rows = Vec::new();
    for basis in WeightBasis::ALL
        .into_iter()
        .filter(|basis| *basis != WeightBasis::HEADLINE)
    {
        let setting = format!("basis {}", basis.label());
        rows.push(row(&setting, &base, &selections(&fitted.model, agents, basis)));
    }
    for (setting, config) in variants(fitted.model.config()) {
        let model = fitted.refit(&config, days.clone())?;
        rows.push(row(
            setting,
            &base,
            &selections(&model, agents, WeightBasis::HEADLINE),
        ));
    }
    Ok(rows)
}

/// The settings that are tried; the centre must move nothing.
fn variants(config: &ModelConfig) -> Vec<(&'static str, ModelConfig)> {
    let with = |change: &dyn Fn(&mut ModelConfig)| {
        let mut config = config.clone();
        change(&mut config);
        config
    };
    vec![
        (
            "z-score centre: regression weights",
            with(&|c| c.centering = Centering::Regression),
        ),
        ("residuals: fitted", with(&|c| c.residuals = Residuals::Fitted)),
        ("weights: equal", with(&|c| c.weighting = Weighting::Equal)),
        ("weights: amount", with(&|c| c.weighting = Weighting::Amount)),
        (
            "weights: inverse residual variance",
            with(&|c| c.weighting = Weighting::InverseResidualVariance),
        ),
        ("winsor: 3 sigma", with(&|c| c.winsor = Winsor::Sigma { k: 3.0 })),
        (
            "winsor: percentiles 1 and 99",
            with(&|c| c.winsor = Winsor::Percentile { low: 1.0, high: 99.0 }),
        ),
        ("winsor: none", with(&|c| c.winsor = Winsor::Unlimited)),
        (
            "ILLIQ without logarithm",
            with(&|c| c.factors.illiquidity_log = false),
        ),
    ]
}

fn selections(model: &FactorModel, agents: &[Vec<&ScoredEpisode>], basis: WeightBasis) -> Selections {
    let mut all = Selections {
        daily: Vec::new(),
        a_day: Vec::new(),
    };
    for scores in agents {
        let attributions: Vec<Attribution> = scores
            .iter()
            .filter_map(|score| {
                attribute(&score.books, model.config().styles.len(), |day| model.day(day)).ok()
            })
            .collect();
        let series = SelectionSeries::on(&attributions.iter().collect::<Vec<_>>(), basis);
        all.a_day.push(series.a_day());
        all.daily.extend(series.seeds);
    }
    all
}

fn row(setting: &str, base: &Selections, other: &Selections) -> SensitivityRow {
    let tau = Sample::new("selection", &base.a_day)
        .and_then(|left| Ok((left, Sample::new("selection", &other.a_day)?)))
        .and_then(|(left, right)| kendall_tau(&left, &right));
    let changes = base
        .daily
        .iter()
        .zip(&other.daily)
        .flat_map(|(base, other)| base.iter().zip(other).map(|(base, other)| (base - other).abs()));
    SensitivityRow {
        setting: setting.to_owned(),
        kendall_tau: tau.map_or_else(|error| Metric::missing(error.to_string()), Metric::of),
        selection: other.a_day.clone(),
        largest_daily_change: changes.fold(0.0, f64::max),
    }
}
