//! A whole window of fits.

use super::config::{Centering, Exposures, ModelConfig, Residuals as ResidualRule, Weighting};
use super::day_fit::{DayFit, DayStatus, SectorSums};
use super::error::ModelError;
use super::name_cells::NameCells;
use super::section::{Section, Table};
use super::wls::{Solution, Solver};
use crate::panel::Panel;
use ktd_env::factors::{Center, CrossSection, RollingWindow, missing_per_row, standardise};
use std::ops::Range;

/// The fits of a range of return days: made once from panel and configuration, shared by every trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorModel {
    config: ModelConfig,
    days: Range<usize>,
    fits: Vec<DayFit>,
}

impl FactorModel {
    /// Fits each return day of `days` on exposures of the day before.
    ///
    /// The fit of a day reads nothing after it, its exposures and weights nothing after the day before, and none of
    /// its bits depend on which other days are asked for.
    ///
    /// # Errors
    /// [`ModelError`] when the configuration does not hold together, the panel does not hold the days, or it was cut
    /// short of what the factors read.
    pub fn fit(panel: &Panel, config: &ModelConfig, days: Range<usize>) -> Result<Self, ModelError> {
        config.check()?;
        check_days(panel, config, &days)?;
        let table = Table::new(panel, config, &days)?;
        let fits = if config.weighting == Weighting::InverseResidualVariance {
            let residuals = Residuals::new(panel, config, &days)?;
            fit_all(config, &table, |section| residuals.weigh(section))?
        } else {
            fit_all(config, &table, |_| ())?
        };
        let config = config.clone();
        Ok(Self { config, days, fits })
    }

    /// What it was made with.
    #[must_use]
    pub const fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The return days, as places of the calendar.
    #[must_use]
    pub const fn days(&self) -> &Range<usize> {
        &self.days
    }

    /// The fit of a return day; `None` outside [`Self::days`].
    #[must_use]
    pub fn day(&self, day: usize) -> Option<&DayFit> {
        self.fits.get(day.checked_sub(self.days.start)?)
    }

    /// The model with other fits of the same days.
    pub(super) fn with_fits(&self, fits: Vec<DayFit>) -> Self {
        Self {
            config: self.config.clone(),
            days: self.days.clone(),
            fits,
        }
    }

    /// All fits, oldest first.
    #[must_use]
    pub fn fits(&self) -> &[DayFit] {
        &self.fits
    }
}

fn check_days(panel: &Panel, config: &ModelConfig, days: &Range<usize>) -> Result<(), ModelError> {
    let held = panel.days();
    let first = held.start + 1;
    if days.start < first || days.end < days.start || held.end < days.end {
        return Err(ModelError::Days {
            start: days.start,
            end: days.end,
            first,
            last: held.end,
        });
    }
    let needed_day = config.first_needed_day(days.start);
    if needed_day < held.start {
        return Err(ModelError::ShortHistory {
            first_day: held.start,
            needed_day,
        });
    }
    Ok(())
}

/// `weigh` may change the weights of a day.
fn fit_all(
    config: &ModelConfig,
    table: &Table,
    weigh: impl Fn(&mut Section),
) -> Result<Vec<DayFit>, ModelError> {
    let mut solver = Solver::default();
    let mut ones = Vec::new();
    let fits = table.sections().map(|mut section| {
        weigh(&mut section);
        ones.resize(section.weights.len(), 1.0);
        fit_day(config, section, &ones, &mut solver)
    });
    fits.collect()
}

/// The fits of a first pass, whose residuals make weights.
struct Residuals {
    window: RollingWindow,
    fits: Vec<DayFit>,
}

impl Residuals {
    /// A first pass over what the windows of `days` reach.
    fn new(panel: &Panel, config: &ModelConfig, days: &Range<usize>) -> Result<Self, ModelError> {
        let window = config.weight_window;
        let earliest = days.start.saturating_sub(window.days).max(panel.days().start + 1);
        let pass = ModelConfig {
            weighting: Weighting::SqrtAmount,
            ..config.clone()
        };
        let last = days.end.saturating_sub(1).max(earliest);
        let table = Table::new(panel, &pass, &(earliest..last))?;
        let fits = fit_all(&pass, &table, |_| ())?;
        Ok(Self { window, fits })
    }

    /// Replaces weights by 1 over the mean square of the residuals up to the day before.
    fn weigh(&self, section: &mut Section) {
        let window = section.day.saturating_sub(self.window.days)..section.day;
        let known: Vec<&DayFit> = self.fits.iter().filter(|fit| window.contains(&fit.day)).collect();
        for (row, weight) in section.weights.iter_mut().enumerate() {
            *weight = mean_square(&known, row, self.window.min_days)
                .map(f64::recip)
                .filter(|weight| weight.is_finite())
                .unwrap_or(0.0);
        }
    }
}

/// Mean square of a name's close-to-close residuals on the days it was covered; `None` where they are too few.
fn mean_square(fits: &[&DayFit], row: usize, min_days: usize) -> Option<f64> {
    let mut days = 0;
    let mut squares = 0.0;
    for fit in fits.iter().filter(|fit| fit.is_covered(row)) {
        let residual = fit.specific_return(row, super::Leg::CloseToClose);
        squares += residual * residual;
        days += 1;
    }
    let count = u32::try_from(days).ok()?;
    (min_days <= days).then(|| squares / f64::from(count))
}

/// Who is in the moments, in the regression and in the attribution of one day.
struct Sets {
    /// Members of the day before whose values set limits and moments.
    moments: Vec<bool>,
    estimation: Vec<bool>,
    covered: Vec<bool>,
    estimation_names: usize,
    imputed: usize,
}

impl Sets {
    fn new(config: &ModelConfig, section: &Section) -> Result<Self, ModelError> {
        let names = section.weights.len().max(1);
        let columns: Vec<&[f64]> = section.raw.chunks_exact(names).collect();
        let missing = missing_per_row(&columns)?;
        let cross_section = config.cross_section();
        let has: Vec<bool> = missing
            .iter()
            .map(|missing| cross_section.covers(*missing))
            .collect();
        let members = section.member.iter().zip(&section.weights).zip(&has);
        let moments: Vec<bool> = members
            .map(|((member, weight), has)| *member && 0.0 < *weight && *has)
            .collect();
        let both = |left: &[bool], right: &[bool]| -> Vec<bool> {
            left.iter()
                .zip(right)
                .map(|(left, right)| *left && *right)
                .collect()
        };
        let estimation = both(&moments, &section.live);
        let estimated = missing.iter().zip(&estimation).filter(|(_, in_it)| **in_it);
        Ok(Self {
            estimation_names: estimation.iter().filter(|in_it| **in_it).count(),
            imputed: estimated.map(|(missing, _)| missing).sum(),
            covered: both(&has, &section.live),
            moments,
            estimation,
        })
    }
}

fn fit_day(
    config: &ModelConfig,
    mut section: Section,
    ones: &[f64],
    solver: &mut Solver,
) -> Result<DayFit, ModelError> {
    let sets = Sets::new(config, &section)?;
    let raw = match config.exposures {
        Exposures::Clipped => Vec::new(),
        Exposures::Unclipped => section.raw.clone(),
    };
    let scales = standardise_all(config, &mut section, &sets.moments)?;
    if sets.estimation_names < config.min_cross_section() {
        return Ok(thin(config, section, sets, scales));
    }
    let mut columns = vec![ones];
    columns.extend(section.raw.chunks_exact(ones.len().max(1)));
    let weights: Vec<f64> = section
        .weights
        .iter()
        .zip(&sets.estimation)
        .map(|(weight, in_it)| if *in_it { *weight } else { 0.0 })
        .collect();
    let legs = [section.close_to_close.as_slice(), section.overnight.as_slice()];
    solver
        .fit(&columns, &legs, &weights, config.rank_tolerance)
        .map_err(|error| ModelError::Regression {
            day: section.day,
            error,
        })?;
    let covariance_hc1 = solver.covariance_hc1(&columns);
    if config.exposures == Exposures::Clipped {
        let inverse_products = match config.residuals {
            ResidualRule::LeftOut => solver.inverse_products(),
            ResidualRule::Fitted => Vec::new(),
        };
        let fit = DayFit {
            inverse_products,
            ..fitted(section, sets, scales, solver.solution(), covariance_hc1)
        };
        return Ok(fit.with_sector_sums());
    }
    // Beyond the limits a name is attributed with exposures that are not those of the regression: nothing is left out.
    let mut solution = solver.solution().clone();
    section.raw = unclipped(&raw, &section.raw, &scales);
    solution.residuals = residuals(&section, &solution.coefficients);
    Ok(fitted(section, sets, scales, &solution, covariance_hc1).with_sector_sums())
}

/// Turns raw values into exposures, in place.
fn standardise_all(
    config: &ModelConfig,
    section: &mut Section,
    moments: &[bool],
) -> Result<Vec<CrossSection>, ModelError> {
    let cross_section = config.cross_section();
    let center = match config.centering {
        Centering::Equal => Center::Equal,
        Centering::Regression => Center::Regression(&section.weights),
    };
    let columns = section.raw.chunks_exact_mut(moments.len().max(1));
    columns
        .map(|values| Ok(standardise(values, moments, center, &cross_section)?))
        .collect()
}

/// Exposures beyond the limits: raw values on the scale of the clipped ones. Missing values stay as they were filled in.
fn unclipped(raw: &[f64], clipped: &[f64], scales: &[CrossSection]) -> Vec<f64> {
    let names = clipped.len().checked_div(scales.len()).unwrap_or(0).max(1);
    let columns = raw
        .chunks_exact(names)
        .zip(clipped.chunks_exact(names))
        .zip(scales);
    columns
        .flat_map(|((raw, clipped), scale)| {
            let own = move |value: f64| match scale {
                CrossSection::Scaled(scale) => (value - scale.center) / scale.sd,
                CrossSection::Degenerate => 0.0,
            };
            raw.iter()
                .zip(clipped)
                .map(move |(raw, clipped)| if raw.is_finite() { own(*raw) } else { *clipped })
        })
        .collect()
}

/// Returns less what the factors explain through the section's exposures, leg by leg.
fn residuals(section: &Section, coefficients: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let names = section.weights.len().max(1);
    let legs = [&section.close_to_close, &section.overnight];
    let legs = legs.into_iter().zip(coefficients);
    legs.map(|(leg, coefficients)| {
        let common = coefficients.first().copied().unwrap_or(0.0);
        let mut left: Vec<f64> = leg.iter().map(|daily| daily - common).collect();
        for (column, coefficient) in section.raw.chunks_exact(names).zip(coefficients.iter().skip(1)) {
            for (left, exposure) in left.iter_mut().zip(column) {
                *left -= coefficient * exposure;
            }
        }
        left
    })
    .collect()
}

/// `whole - part`, cell by cell: the intraday leg of what is linear in the return.
fn rest(whole: &[f64], part: &[f64]) -> Vec<f64> {
    whole.iter().zip(part).map(|(whole, part)| whole - part).collect()
}

fn thin(config: &ModelConfig, section: Section, sets: Sets, scales: Vec<CrossSection>) -> DayFit {
    let names = section.weights.len();
    let columns = config.columns();
    DayFit {
        day: section.day,
        status: DayStatus::Thin,
        estimation_names: sets.estimation_names,
        imputed: sets.imputed,
        r_squared: 0.0,
        sigma_squared: 0.0,
        factor_returns: std::array::from_fn(|_| vec![0.0; columns]),
        standard_errors: vec![None; columns],
        covariance_hc1: vec![0.0; columns * columns],
        inverse_products: Vec::new(),
        cells: NameCells::new(
            &vec![false; names],
            &section.raw,
            &std::array::from_fn(|_| vec![0.0; names]),
            &with_intraday(section.close_to_close, section.overnight),
        ),
        scales,
        sectors: SectorSums::new(section.sectors),
        estimation: sets.estimation,
        weights: section.weights,
        kept: Vec::new(),
    }
}

/// Close to close, overnight, and the rest of the day.
fn with_intraday(close_to_close: Vec<f64>, overnight: Vec<f64>) -> [Vec<f64>; 3] {
    let intraday = rest(&close_to_close, &overnight);
    [close_to_close, overnight, intraday]
}

fn fitted(
    section: Section,
    sets: Sets,
    scales: Vec<CrossSection>,
    solution: &Solution,
    covariance_hc1: Vec<f64>,
) -> DayFit {
    let legs = |parts: &[Vec<f64>]| {
        let mut parts = parts.iter().cloned();
        let close_to_close = parts.next().unwrap_or_default();
        with_intraday(close_to_close, parts.next().unwrap_or_default())
    };
    DayFit {
        day: section.day,
        status: DayStatus::Fitted,
        estimation_names: sets.estimation_names,
        imputed: sets.imputed,
        r_squared: solution.r_squared,
        sigma_squared: solution.sigma_squared,
        factor_returns: legs(&solution.coefficients),
        standard_errors: solution.standard_errors.clone(),
        covariance_hc1,
        inverse_products: Vec::new(),
        cells: NameCells::new(
            &sets.covered,
            &section.raw,
            &legs(&solution.residuals),
            &with_intraday(section.close_to_close, section.overnight),
        ),
        scales,
        sectors: SectorSums::new(section.sectors),
        estimation: sets.estimation,
        weights: section.weights,
        kept: solution.kept.clone(),
    }
}
