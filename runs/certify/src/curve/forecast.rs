//! A linear forecast of the next day's return from the nine factors: what a careful reader could make of exact numbers.

use super::strategy::FactorWeights;
use crate::CertifyError;
use crate::probe_inputs::ProbeInputs;
use ktd_env::factors::Factor;
use ktd_env::{DaysBack, NameId};
use ktd_probes::Stretch;
use nalgebra::{DMatrix, DVector};

/// Trading days from one cross-section that is fitted to the next.
const EVERY_DAYS: usize = 5;
/// Fewer stocks than this fit nothing.
const LEAST_STOCKS: usize = 30;

/// The slopes of the forecast: the mean over days of the stretches of the slopes of a cross-sectional regression of the next
/// day's total return on the nine z-scores (Fama and `MacBeth` 1973, "Risk, Return, and Equilibrium: Empirical Tests").
///
/// # Errors
/// [`CertifyError::Input`] when no day of the stretches can be fitted.
pub(super) fn mean_slopes(
    inputs: &ProbeInputs,
    stretches: &[Stretch],
) -> Result<FactorWeights, CertifyError> {
    let days = stretches
        .iter()
        .flat_map(|stretch| (stretch.start..stretch.end).step_by(EVERY_DAYS));
    let fitted: Vec<FactorWeights> = days.filter_map(|day| slopes(inputs, day)).collect();
    if fitted.is_empty() {
        return Err(CertifyError::input(
            "no day of the training stretches has thirty stocks with all factors and a next day",
            "choose a panel of more stocks or days",
        ));
    }
    let mut mean = [0.0; Factor::ALL.len()];
    for slopes in &fitted {
        for (mean, slope) in mean.iter_mut().zip(slopes) {
            *mean += slope / count(fitted.len());
        }
    }
    Ok(mean)
}

/// The slopes of one day's members, beside an intercept.
fn slopes(inputs: &ProbeInputs, place: usize) -> Option<FactorWeights> {
    let market = &inputs.source.market;
    let (day, next) = (market.day_at(place)?, market.day_at(place + 1)?);
    let (before, after) = (
        market.as_of(day).with_factors(&inputs.factors),
        market.as_of(next),
    );
    let row = |name: NameId| {
        let mut row = vec![1.0];
        for factor in Factor::ALL {
            row.push(before.factor_z(name, factor)?);
        }
        let close = |bar: ktd_env::Bar| (0 < bar.volume).then(|| bar.adjusted_close());
        let earned = close(after.bar(name, DaysBack(0))?)? / close(before.bar(name, DaysBack(0))?)? - 1.0;
        Some((row, earned))
    };
    let (rows, earned): (Vec<Vec<f64>>, Vec<f64>) = before.members().filter_map(row).unzip();
    if rows.len() < LEAST_STOCKS {
        return None;
    }
    let exposures =
        DMatrix::from_row_iterator(rows.len(), Factor::ALL.len() + 1, rows.iter().flatten().copied());
    let normal = exposures.transpose() * &exposures;
    let solved = normal
        .cholesky()?
        .solve(&(exposures.transpose() * DVector::from_vec(earned)));
    let slopes: Vec<f64> = solved.iter().skip(1).copied().collect();
    slopes.try_into().ok()
}

#[expect(clippy::cast_precision_loss, reason = "days are few")]
const fn count(days: usize) -> f64 {
    days as f64
}
