//! What each rung leaves to see of factors, of a forecast and of what strategies rank by.

use super::forecast::mean_slopes;
use super::record::FactorSight;
use super::signals::signal_days;
use super::strategy::{FactorStrategy, FactorWeights};
use crate::CertifyError;
use crate::probe_inputs::ProbeInputs;
use crate::set_plan::SetPlan;
use ktd_env::factors::Factor;
use ktd_io::parallel::in_parallel;
use ktd_masking::Numeric;
use serde::{Deserialize, Serialize};

/// What one rung shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RungSight {
    /// Of factors and the forecast.
    pub(super) sight: FactorSight,
    /// Of each strategy.
    pub(super) strategies: Vec<StrategySight>,
}

/// What a rung shows of what a strategy ranks by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StrategySight {
    /// The strategy.
    pub(super) strategy: FactorStrategy,
    /// Mean over days of the rank correlation with the same of exact numbers.
    pub(super) rank_correlation: Option<f64>,
    /// Days compared.
    pub(super) days: usize,
}

/// What is compared: each factor alone, the forecast, and each strategy.
fn scores(forecast: FactorWeights) -> Vec<FactorWeights> {
    let alone = Factor::ALL.map(|one| Factor::ALL.map(|factor| f64::from(u8::from(factor == one))));
    let strategies = FactorStrategy::ALL.map(FactorStrategy::weights);
    alone.into_iter().chain([forecast]).chain(strategies).collect()
}

/// What is left to see on each rung, from exact numbers down. The forecast is fitted on the stretches that the attackers learn
/// on.
///
/// # Errors
/// [`CertifyError::Input`] when the stretches do not fit the panel.
pub(super) fn sights(inputs: &ProbeInputs, plan: &SetPlan) -> Result<Vec<RungSight>, CertifyError> {
    let days = signal_days(&plan.stretches);
    let scores = scores(mean_slopes(inputs, &plan.training_stretches)?);
    let of_rung = |numeric: Numeric| {
        let found = in_parallel(&days, inputs.threads, |day| {
            day.correlations(inputs, numeric, &scores)
        });
        let found: Vec<Vec<Option<f64>>> = found.into_iter().collect::<Result<_, _>>()?;
        let of_score = |place: usize| {
            let seen: Vec<f64> = found.iter().filter_map(|day| *day.get(place)?).collect();
            (mean(&seen), seen.len())
        };
        let of_scores: Vec<(Option<f64>, usize)> = (0..scores.len()).map(of_score).collect();
        Ok(of_correlations(&of_scores))
    };
    Numeric::ALL.into_iter().map(of_rung).collect()
}

/// From correlations and days in the order of [`scores`].
fn of_correlations(scores: &[(Option<f64>, usize)]) -> RungSight {
    let (factors, rest) = scores.split_at(Factor::ALL.len().min(scores.len()));
    let (forecast, strategies) = rest.split_at(1.min(rest.len()));
    let known: Vec<f64> = factors.iter().filter_map(|(seen, _)| *seen).collect();
    let named = Factor::ALL.iter().zip(factors);
    let strategies = FactorStrategy::ALL.into_iter().zip(strategies);
    RungSight {
        sight: FactorSight {
            factors: named
                .map(|(factor, (seen, _))| (factor.name().to_owned(), *seen))
                .collect(),
            mean: mean(&known),
            forecast: forecast.first().and_then(|(seen, _)| *seen),
            days: factors.iter().map(|(_, days)| *days).max().unwrap_or(0),
        },
        strategies: strategies
            .map(|(strategy, (rank_correlation, days))| StrategySight {
                strategy,
                rank_correlation: *rank_correlation,
                days: *days,
            })
            .collect(),
    }
}

/// The mean of some values; nothing where there is none.
#[expect(clippy::cast_precision_loss, reason = "some hundred values")]
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
