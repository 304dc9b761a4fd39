//! How far exposures beyond the limits of winsorising move returns: measured, not planted.

use super::market::PlantedMarket;
use crate::model::{DayFit, DayStatus, Leg, ModelError, Solution, Solver};
use ktd_stats::SplitMix64;

/// The share of a name's own exposure beyond the limits that moves its return: 0 where factors stop at the limits, 1 where
/// they go on.
///
/// Returns are regressed on clipped exposures and, apart, on what lies beyond the limits, in two halves of the names. The
/// share is the slope of the second on the first. Each half's slope beyond is compared with the *other* half's factor
/// return, whose error is independent: within one half the errors of both would decide it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailFit {
    /// The share.
    pub share: f64,
    /// 95 % interval of it: resampled days.
    pub interval: (f64, f64),
}

/// What one day adds: slopes beyond times factor returns of the other half, and factor returns times those.
type Sums = (f64, f64);

impl PlantedMarket {
    /// The tail of the panel's own returns; `chance` is replicates and seed of the interval.
    ///
    /// # Errors
    /// [`ModelError::Regression`] where a day cannot be fitted.
    pub fn tail_fit(&self, chance: (u32, u64)) -> Result<TailFit, ModelError> {
        let own = |fit: &DayFit| -> Vec<f64> {
            let rows = 0..fit.names();
            rows.map(|row| fit.name_return(row, Leg::CloseToClose)).collect()
        };
        self.tail_of(self.clipped.fits().iter().map(own), chance)
    }

    /// The tail that is found in one draw of a planted one: whether the measure finds what is there.
    ///
    /// # Errors
    /// As [`Self::tail_fit`].
    pub fn planted_tail_fit(&self, tail: f64, chance: (u32, u64)) -> Result<TailFit, ModelError> {
        let draw = self.draw((tail, 0.0), &mut SplitMix64::new(chance.1));
        let returns = draw.days.into_iter().map(|day| {
            let [whole, _] = day.returns;
            whole
        });
        self.tail_of(returns, chance)
    }

    fn tail_of(
        &self,
        returns: impl Iterator<Item = Vec<f64>>,
        chance: (u32, u64),
    ) -> Result<TailFit, ModelError> {
        let mut solver = Solver::default();
        let days = self.clipped.fits().iter().zip(self.unclipped.fits()).zip(returns);
        let days = days.filter(|((clipped, _), _)| clipped.status == DayStatus::Fitted);
        let sums: Vec<Sums> = days
            .map(|(day, returns)| sums(day, &returns, &mut solver))
            .collect::<Result<_, _>>()?;
        let mut found: Vec<f64> = (0..chance.0)
            .map(|replicate| {
                let mut generator = SplitMix64::of_replicate(chance.1, replicate);
                share(sums.iter().filter_map(|_| drawn(&sums, &mut generator)))
            })
            .collect();
        found.sort_by(f64::total_cmp);
        let end = |of_thousand: usize| {
            let place = found.len() * of_thousand / 1000;
            found.get(place).copied().unwrap_or(f64::NAN)
        };
        Ok(TailFit {
            share: share(sums.iter().copied()),
            interval: (end(25), end(974)),
        })
    }
}

fn share(days: impl Iterator<Item = Sums>) -> f64 {
    let (beyond, within) = days.fold((0.0, 0.0), |sums: Sums, day| (sums.0 + day.0, sums.1 + day.1));
    beyond / within
}

fn drawn(sums: &[Sums], generator: &mut SplitMix64) -> Option<Sums> {
    let places = u64::try_from(sums.len()).ok().filter(|places| 0 < *places)?;
    let place = usize::try_from(generator.next_u64() % places).ok()?;
    sums.get(place).copied()
}

/// The sums of a day. A slope counts by its precision; one whose column says nothing in either half does not count.
fn sums(
    (clipped, unclipped): (&DayFit, &DayFit),
    returns: &[f64],
    solver: &mut Solver,
) -> Result<Sums, ModelError> {
    let ones = vec![1.0; clipped.names()];
    let within: Vec<Vec<f64>> = (0..clipped.styles())
        .map(|style| clipped.style_exposures(style).collect())
        .collect();
    let beyond = (0..clipped.styles()).map(|style| -> Vec<f64> {
        let both = clipped
            .style_exposures(style)
            .zip(unclipped.style_exposures(style));
        both.map(|(inner, outer)| outer - inner).collect()
    });
    let beyond: Vec<Vec<f64>> = beyond.collect();
    let columns: Vec<&[f64]> = std::iter::once(&ones)
        .chain(&within)
        .chain(&beyond)
        .map(Vec::as_slice)
        .collect();
    let mut half = |parity: usize| -> Result<Solution, ModelError> {
        let weights: Vec<f64> = (0..clipped.names())
            .map(|row| {
                let is_in = row % 2 == parity && clipped.is_estimated(row);
                clipped.weight(row).filter(|_| is_in).unwrap_or(0.0)
            })
            .collect();
        let solution = solver.fit(&columns, &[returns], &weights, 1e-6);
        let day = clipped.day;
        solution
            .cloned()
            .map_err(|error| ModelError::Regression { day, error })
    };
    let halves = [half(0)?, half(1)?];
    let [even, odd] = &halves;
    let styles = clipped.styles();
    let pairs = [(even, odd), (odd, even)];
    let each = pairs.into_iter().flat_map(|(own, other)| {
        (1..=styles).filter_map(move |column| {
            let error = own.standard_errors.get(column + styles).copied().flatten()?;
            let precision = (error * error).recip();
            let elsewhere = coefficient(other, column);
            let counts = precision.is_finite().then_some(precision * elsewhere)?;
            Some((
                counts * coefficient(own, column + styles),
                counts * coefficient(own, column),
            ))
        })
    });
    Ok(each.fold((0.0, 0.0), |sums, own| (sums.0 + own.0, sums.1 + own.1)))
}

fn coefficient(solution: &Solution, column: usize) -> f64 {
    let leg = solution.coefficients.first();
    leg.and_then(|leg| leg.get(column)).copied().unwrap_or(0.0)
}
