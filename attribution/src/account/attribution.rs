//! A trajectory's returns, split day by day.

use super::basis::WeightBasis;
use super::day_book::DayBook;
use super::error::AccountError;
use super::factor_timing::{FactorMoments, FactorTiming};
use super::linking::{Linking, carino, linking_weights};
use super::parts::{Part, Parts};
use crate::model::{DayFit, DayStatus, Leg, RecordSum};

/// A trajectory's returns, split day by day on each basis.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    days: Vec<usize>,
    returns: Vec<f64>,
    parts: [Parts; 3],
    /// What names' own returns moved of common and style, which is selection where names are left out, by basis.
    own_influence: [Vec<f64>; 3],
    /// What of selection the other names of each holding's sector earned alike, by basis.
    sector: [Vec<f64>; 3],
    /// What of common and of styles is when they were held, by basis.
    timing: [Vec<FactorTiming>; 3],
    /// Exposures on weights before the day's trades: one row a day, one column a style.
    exposures: Vec<f64>,
    /// Covered weight before the day's trades.
    covered_weight: Vec<f64>,
    /// Whether the factor model was fitted, by day.
    is_fitted: Vec<bool>,
    split_variances: Vec<f64>,
}

/// Splits a trajectory's daily returns; `fit` gives the factor model's fit of a day.
///
/// # Errors
/// [`AccountError`] for a NAV that is not above 0, a value that is no number, a day without a fit, a gap between two
/// days, or a name that the panel does not have.
pub fn attribute<'f>(
    books: &[DayBook],
    styles: usize,
    fit: impl Fn(usize) -> Option<&'f DayFit>,
) -> Result<Attribution, AccountError> {
    let mut attribution = Attribution {
        days: Vec::with_capacity(books.len()),
        returns: Vec::with_capacity(books.len()),
        parts: [Parts::new(styles), Parts::new(styles), Parts::new(styles)],
        own_influence: Default::default(),
        sector: Default::default(),
        timing: Default::default(),
        exposures: Vec::with_capacity(books.len() * styles),
        covered_weight: Vec::with_capacity(books.len()),
        is_fitted: Vec::with_capacity(books.len()),
        split_variances: Vec::with_capacity(books.len()),
    };
    for pair in books.windows(2) {
        if let [before, book] = pair {
            check_gap(before, book)?;
        }
    }
    let mut sums = Sums::new(styles);
    let mut moments = FactorMoments::new(styles + 1);
    for book in books {
        book.check()?;
        let fit = fit(book.day).ok_or(AccountError::NoFit { day: book.day })?;
        if let Some(held) = book.held.iter().find(|held| fit.names() <= held.row) {
            let (day, row, rows) = (book.day, held.row, fit.names());
            return Err(AccountError::UnknownRow { day, row, rows });
        }
        attribution.push(book, fit, &mut sums);
        moments.push(fit, [&sums.loadings_before, &sums.loadings_after]);
    }
    attribution.timing = WeightBasis::ALL.map(|basis| moments.timing(basis));
    Ok(attribution)
}

/// Two days meet when one ends where the next begins, to the rounding of a float.
fn check_gap(before: &DayBook, book: &DayBook) -> Result<(), AccountError> {
    const ROUNDING: f64 = 1e-12;
    let difference = (book.nav_before_cny - before.nav_after_cny).abs();
    if before.day < book.day && difference <= ROUNDING * before.nav_after_cny.abs() {
        return Ok(());
    }
    Err(AccountError::Gap {
        day: book.day,
        nav_before_cny: book.nav_before_cny,
        nav_after_cny: before.nav_after_cny,
    })
}

/// Sums over a day's holdings, on weights before and after its trades.
struct Sums {
    before: RecordSum,
    after: RecordSum,
    /// The covered weight and the exposures of each.
    loadings_before: Vec<f64>,
    loadings_after: Vec<f64>,
    /// What names' own returns moved of each column, leg after leg.
    own_before: Vec<f64>,
    own_after: Vec<f64>,
    /// What sectors earned, by leg.
    sector_before: [f64; 3],
    sector_after: [f64; 3],
    /// Returns by leg of what is not covered.
    uncovered_before: [f64; 3],
    uncovered_after: [f64; 3],
    /// What the day's own trades earned, by leg.
    traded: [f64; 3],
}

impl Sums {
    fn new(styles: usize) -> Self {
        Self {
            before: RecordSum::new(styles),
            after: RecordSum::new(styles),
            loadings_before: Vec::new(),
            loadings_after: Vec::new(),
            own_before: Vec::new(),
            own_after: Vec::new(),
            sector_before: [0.0; 3],
            sector_after: [0.0; 3],
            uncovered_before: [0.0; 3],
            uncovered_after: [0.0; 3],
            traded: [0.0; 3],
        }
    }

    fn fill(&mut self, book: &DayBook, fit: &DayFit) {
        self.before.clear();
        self.after.clear();
        (self.uncovered_before, self.uncovered_after, self.traded) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        (self.sector_before, self.sector_after) = ([0.0; 3], [0.0; 3]);
        for own in [&mut self.own_before, &mut self.own_after] {
            own.clear();
            own.resize(Leg::ALL.len() * fit.columns(), 0.0);
        }
        let nav = book.nav_before_cny;
        for held in &book.held {
            let Some(name) = fit.name(held.row) else { continue };
            let weight = held.before_cny / nav;
            // Few names trade on a day: what they add to the weights is summed alone.
            let change = (held.after_cny - held.before_cny) / nav;
            if name.is_covered() {
                self.before.add(&name, weight);
                let sector = fit.sector_return(held.row);
                add(&mut self.sector_before, weight, sector);
                add(&mut self.sector_after, weight + change, sector);
                if let Some(influence) = fit.own_influence(held.row) {
                    add_influence(&mut self.own_before, weight, &influence, name.specific());
                    add_influence(&mut self.own_after, weight + change, &influence, name.specific());
                }
            } else {
                add(&mut self.uncovered_before, weight, name.returns());
            }
            if change != 0.0 {
                add(&mut self.traded, change, name.returns());
                if name.is_covered() {
                    self.after.add(&name, change);
                } else {
                    add(&mut self.uncovered_after, change, name.returns());
                }
            }
        }
        self.after.add_sum(&self.before);
        let before = self.uncovered_before;
        add(&mut self.uncovered_after, 1.0, before);
        self.before.loadings(&mut self.loadings_before);
        self.after.loadings(&mut self.loadings_after);
    }
}

/// One set of weights: covered weight and exposures, specific returns, what names' own returns moved, and returns of what is
/// not covered.
#[derive(Clone, Copy)]
struct Side<'s> {
    loadings: &'s [f64],
    specific: [f64; 3],
    own: &'s [f64],
    sector: [f64; 3],
    uncovered: [f64; 3],
}

/// Adds what a name moves of the columns, leg after leg.
fn add_influence(sums: &mut [f64], weight: f64, influence: &[f64], specific: [f64; 3]) {
    let legs = sums.chunks_exact_mut(influence.len().max(1));
    for (sums, leg) in legs.zip(specific) {
        for (sum, share) in sums.iter_mut().zip(influence) {
            *sum += weight * leg * share;
        }
    }
}

fn add(sums: &mut [f64; 3], weight: f64, legs: [f64; 3]) {
    for (sum, leg) in sums.iter_mut().zip(legs) {
        *sum += weight * leg;
    }
}

/// Adds a leg's common, style, specific and uncovered return to a row of parts; what of it names' own returns moved, and what
/// sectors earned.
fn add_leg(row: &mut [f64], fit: &DayFit, side: Side<'_>, leg: Leg) -> [f64; 2] {
    let columns = side.loadings.len();
    let own = side.own.get(leg.index() * columns..(leg.index() + 1) * columns);
    let own = own.unwrap_or(&[]);
    let products = side.loadings.iter().zip(fit.leg_returns(leg)).zip(own);
    for (cell, ((loading, factor_return), own)) in row.iter_mut().zip(products) {
        *cell += loading * factor_return - own;
    }
    let influence: f64 = own.iter().sum();
    let leg = |legs: [f64; 3]| legs.get(leg.index()).copied().unwrap_or(0.0);
    if let [selection, _, _, _, _, unattributed] = row.get_mut(columns..).unwrap_or(&mut []) {
        *selection += leg(side.specific) + influence;
        *unattributed += leg(side.uncovered);
    }
    [influence, leg(side.sector)]
}

impl Attribution {
    fn push(&mut self, book: &DayBook, fit: &DayFit, sums: &mut Sums) {
        let nav = book.nav_before_cny;
        let styles = fit.styles();
        sums.fill(book, fit);
        let [_, overnight, intraday] = sums.traded;
        let executions = [intraday, -overnight, 0.0];
        let before = Side {
            loadings: &sums.loadings_before,
            specific: sums.before.record().specific(),
            own: &sums.own_before,
            sector: sums.sector_before,
            uncovered: sums.uncovered_before,
        };
        let after = Side {
            loadings: &sums.loadings_after,
            specific: sums.after.record().specific(),
            own: &sums.own_after,
            sector: sums.sector_after,
            uncovered: sums.uncovered_after,
        };
        let legs: [&[(Side<'_>, Leg)]; 3] = [
            &[(before, Leg::CloseToClose)],
            &[(after, Leg::CloseToClose)],
            &[(before, Leg::Overnight), (after, Leg::Intraday)],
        ];
        let into = self
            .parts
            .iter_mut()
            .zip(&mut self.own_influence)
            .zip(&mut self.sector);
        for ((((parts, influences), sectors), legs), execution) in into.zip(legs).zip(executions) {
            let row = parts.push_row();
            let mut beside = [0.0; 2];
            for (side, leg) in legs {
                for (sum, own) in beside.iter_mut().zip(add_leg(row, fit, *side, *leg)) {
                    *sum += own;
                }
            }
            let [influence, sector] = beside;
            influences.push(influence);
            sectors.push(sector);
            if let [_, execution_cell, slip, cost, corporate, unattributed] =
                row.get_mut(styles + 1..).unwrap_or(&mut [])
            {
                *execution_cell = execution;
                *slip = -book.slippage_cny / nav;
                *cost = -book.fees_cny / nav;
                *corporate = book.corporate_cny / nav;
                *unattributed += book.unmarked_cny / nav;
            }
        }
        self.split_variances
            .push(fit.loading_variance_hc1(&sums.loadings_before));
        self.exposures.extend(sums.loadings_before.iter().skip(1));
        self.covered_weight.extend(sums.loadings_before.first());
        self.is_fitted.push(fit.status != DayStatus::Thin);
        self.days.push(book.day);
        self.returns.push(book.daily_return());
    }

    /// Places of the days in the panel's calendar.
    #[must_use]
    pub fn days(&self) -> &[usize] {
        &self.days
    }

    /// Simple daily returns.
    #[must_use]
    pub fn returns(&self) -> &[f64] {
        &self.returns
    }

    /// The geometric return of the whole.
    #[must_use]
    pub fn total_return(&self) -> f64 {
        libm::expm1(self.returns.iter().map(|daily| libm::log1p(*daily)).sum())
    }

    /// Daily parts on a basis.
    #[must_use]
    pub const fn parts(&self, basis: WeightBasis) -> &Parts {
        let [pre, post, two] = &self.parts;
        match basis {
            WeightBasis::Pre => pre,
            WeightBasis::Post => post,
            WeightBasis::Two => two,
        }
    }

    /// Daily specific return of what was held.
    #[must_use]
    pub fn selection(&self, basis: WeightBasis) -> Vec<f64> {
        self.parts(basis).daily(Part::Selection).collect()
    }

    /// The daily specific return of what was held by the residuals of the regression: less than [`Self::selection`] by what of it
    /// moved common and style, where names are left out.
    #[must_use]
    pub fn fitted_selection(&self, basis: WeightBasis) -> Vec<f64> {
        let influences = self
            .own_influence
            .get(basis.index())
            .map_or(&[][..], Vec::as_slice);
        let daily = self.parts(basis).daily(Part::Selection).zip(influences);
        daily
            .map(|(selection, influence)| selection - influence)
            .collect()
    }

    /// The parts of the whole window, in the order of [`Parts::all`].
    #[must_use]
    pub fn linked(&self, basis: WeightBasis, linking: Linking) -> Vec<f64> {
        self.parts(basis)
            .weighted_sums(&linking_weights(&self.returns, linking))
    }

    /// What of daily selection the sectors of what was held explain: weights times what the other names of each sector selected on
    /// the mean. The rest is the choice of names within sectors.
    #[must_use]
    pub fn sector_selection(&self, basis: WeightBasis) -> &[f64] {
        self.sector.get(basis.index()).map_or(&[], Vec::as_slice)
    }

    /// What of each day's common and style return is timing: the day's exposures less their means over all days, times the factor
    /// returns.
    #[must_use]
    pub fn timing(&self, basis: WeightBasis) -> &[FactorTiming] {
        self.timing.get(basis.index()).map_or(&[], Vec::as_slice)
    }

    /// A daily series of these days linked as the parts are.
    #[must_use]
    pub fn linked_series(&self, daily: &[f64], linking: Linking) -> f64 {
        let weights = linking_weights(&self.returns, linking);
        daily
            .iter()
            .zip(weights)
            .map(|(value, weight)| value * weight)
            .sum()
    }

    /// The parts linked by Carino up to each day, one row a day: each row adds up to the return up to that day.
    #[must_use]
    pub fn cumulative(&self, basis: WeightBasis) -> Vec<Vec<f64>> {
        let parts = self.parts(basis);
        let mut sums = vec![0.0; parts.all().count()];
        let mut log_growth = 0.0;
        let rows = self.returns.iter().zip(parts.rows());
        rows.map(|(daily, row)| {
            log_growth += libm::log1p(*daily);
            let whole = carino(libm::expm1(log_growth));
            let weight = carino(*daily);
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += weight * value;
            }
            sums.iter().map(|sum| sum / whole).collect()
        })
        .collect()
    }

    /// Largest difference between a day's return and the sum of its parts.
    #[must_use]
    pub fn gauge(&self, basis: WeightBasis) -> f64 {
        let rows = self.parts(basis).rows().zip(&self.returns);
        rows.map(|(row, daily)| (daily - row.iter().sum::<f64>()).abs())
            .fold(0.0, f64::max)
    }

    /// Standard error of the sum of common and style against selection, from the fits' own uncertainty alone: the root
    /// of the summed `g' Cov g`. It says nothing of sampling error.
    #[must_use]
    pub fn split_standard_error(&self) -> f64 {
        self.split_variances.iter().sum::<f64>().sqrt()
    }

    /// Exposures to each style on weights before the day's trades, one row a day; `None` on a day that could not be fitted, on which
    /// nobody's are known.
    #[must_use]
    pub fn exposures(&self) -> impl ExactSizeIterator<Item = Option<&[f64]>> {
        let styles = self.parts(WeightBasis::Pre).styles();
        // A model without styles still has one row a day.
        self.is_fitted.iter().enumerate().map(move |(day, is_fitted)| {
            let row = self.exposures.get(day * styles..(day + 1) * styles);
            is_fitted.then(|| row.unwrap_or(&[]))
        })
    }

    /// Mean exposure to each style over invested days; `None` when no day was invested. Weights are over NAV, or over
    /// the covered weight when `is_per_invested`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "days stay far below 2^53")]
    pub fn mean_exposures(&self, is_per_invested: bool) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; self.parts(WeightBasis::Pre).styles()];
        let mut invested_days = 0_usize;
        for (row, weight) in self.exposures().zip(&self.covered_weight) {
            let Some(row) = row.filter(|_| 0.0 < *weight) else {
                continue;
            };
            invested_days += 1;
            let scale = if is_per_invested { *weight } else { 1.0 };
            for (sum, exposure) in sums.iter_mut().zip(row) {
                *sum += exposure / scale;
            }
        }
        let mean = |sum: f64| sum / invested_days as f64;
        (0 < invested_days).then(|| sums.into_iter().map(mean).collect())
    }
}
