//! S11: the residual of one log price after a rolling regression on the other.

use super::ReferenceError;
use super::pair::{Legs, PairBar, PairEntry, PairRules, run_pair};
use crate::bars::StrategyBars;
use crate::indicators::{mean, sample_deviation};
use crate::logs::StrategyLogs;
use crate::parameters::Parameters;

/// Slope and standing of the last residual.
#[derive(Debug, Clone, Copy, Default)]
struct Fit {
    slope: Option<f64>,
    score: Option<f64>,
}

/// The regression with intercept of `dependent` on `regressor`.
fn fit(dependent: &[f64], regressor: &[f64]) -> Option<Fit> {
    let (centre_y, centre_x) = (mean(dependent)?, mean(regressor)?);
    let variation: f64 = regressor.iter().map(|x| (x - centre_x) * (x - centre_x)).sum();
    if variation.is_nan() || variation <= 0.0 {
        return None;
    }
    let pairs = || dependent.iter().zip(regressor);
    let common: f64 = pairs().map(|(y, x)| (x - centre_x) * (y - centre_y)).sum();
    let slope = common / variation;
    let residuals: Vec<f64> = pairs()
        .map(|(y, x)| y - centre_y - slope * (x - centre_x))
        .collect();
    let deviation = sample_deviation(&residuals).filter(|deviation| *deviation > 0.0);
    Some(Fit {
        slope: Some(slope),
        score: residuals
            .last()
            .zip(deviation)
            .map(|(last, deviation)| last / deviation),
    })
}

struct ResidualRules {
    fits: Vec<Fit>,
    entry: f64,
    exit: f64,
    stop: f64,
    max_holding_bars: usize,
    slope_min: f64,
    slope_max: f64,
}

impl ResidualRules {
    fn at(&self, bar: usize) -> Fit {
        self.fits.get(bar).copied().unwrap_or_default()
    }
}

impl PairRules for ResidualRules {
    fn exit(&self, bar: &PairBar) -> Option<&'static str> {
        let score = self.at(bar.bar).score.map(f64::abs);
        if score.is_some_and(|score| score >= self.stop) {
            Some("STOP_Z")
        } else if score.is_some_and(|score| score <= self.exit) {
            Some("REVERTED")
        } else {
            (self.max_holding_bars <= bar.held_bars).then_some("TIME_STOP")
        }
    }

    fn entry(&self, bar: &PairBar) -> Option<PairEntry> {
        let Fit { slope, score } = self.at(bar.bar);
        let (slope, score) = (slope?, score?);
        let enters = self.entry <= score.abs()
            && score.abs() < self.stop
            && self.slope_min <= slope
            && slope <= self.slope_max;
        let (side, rule) = if score > 0.0 {
            (-1.0, "RESIDUAL_HIGH")
        } else {
            (1.0, "RESIDUAL_LOW")
        };
        let share = bar.equity / (1.0 + slope);
        enters.then_some(PairEntry {
            side,
            rule,
            quantities: (share / bar.closes.0, share * slope / bar.closes.1),
        })
    }

    fn columns(&self, bar: usize) -> Vec<Option<f64>> {
        let fit = self.at(bar);
        vec![fit.slope, fit.score]
    }
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let legs = Legs::of(market)?;
    let window = parameters.count("W")?;
    let logs = |closes: &[f64]| -> Vec<f64> { closes.iter().map(|close| libm::log(*close)).collect() };
    let (dependent, regressor) = (logs(&legs.first.1.close), logs(&legs.second.1.close));
    let fits = (1..=dependent.len())
        .map(|end| {
            let span = end.checked_sub(window)?..end;
            fit(dependent.get(span.clone())?, regressor.get(span)?)
        })
        .map(Option::unwrap_or_default)
        .collect();
    let rules = ResidualRules {
        fits,
        entry: parameters.number("entry_z")?,
        exit: parameters.number("exit_z")?,
        stop: parameters.number("stop_z")?,
        max_holding_bars: parameters.count("max_holding_bars")?,
        slope_min: parameters.number("beta_min")?,
        slope_max: parameters.number("beta_max")?,
    };
    Ok(run_pair(&rules, &legs, capital))
}
