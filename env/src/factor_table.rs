//! Factor values of a whole panel, computed once and shared by tools, agents and attribution.

use crate::factors::{
    Center, CrossSectionConfig, CrossSectionError, Factor, FactorColumns, FactorConfig, FactorError,
    RollingWindow, Technical, TechnicalColumns, compute, compute_technicals, mean_amount, missing_per_row,
    standardise,
};
use crate::history::History;
use crate::market::{DayIndex, Market, NameId};
use std::ops::Range;

/// Factors, their z-scores and technicals of every name on a range of days.
#[derive(Debug, Clone)]
pub struct FactorTable {
    days: Range<usize>,
    raw: Vec<FactorColumns>,
    technicals: Vec<TechnicalColumns>,
    /// Mean CNY amount of each name on each day, NaN where too few days traded.
    mean_amount: Vec<Vec<f64>>,
    /// One block a day: names x factors, NaN where a name is not covered or the raw value is missing.
    z: Vec<f64>,
    names: usize,
}

/// Why a table cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FactorTableError {
    /// Too little history before the first day asked for.
    #[error(
        "the panel has {have_days} trading days up to the first as-of day, but the factors need {need_days}"
    )]
    TooShort {
        /// Days the panel has.
        have_days: usize,
        /// Days needed.
        need_days: usize,
    },
    /// The factor configuration or the panel's shape does not fit.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// The cross-section does not fit.
    #[error(transparent)]
    CrossSection(#[from] CrossSectionError),
}

impl FactorTableError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "import a panel that starts earlier, or let the window start later",
            Self::Factor(error) => error.hint(),
            Self::CrossSection(error) => error.hint(),
        }
    }
}

/// The window of the regression weight, which decides who is in the cross-section's moments.
const WEIGHT_WINDOW: RollingWindow = RollingWindow::new(60, 20);

impl FactorTable {
    /// The least history with which a screen is worth anything: the minimum of the 52-week high.
    pub const MIN_HISTORY_DAYS: usize = 120;
    /// The fewest names of a day on which nine factors and a market are fitted: five for each of ten columns.
    pub const MIN_NAMES: usize = 50;

    /// The table of the as-of days `first..=last`.
    ///
    /// A value on a day reads nothing after that day, and its bits do not depend on the range asked for.
    ///
    /// # Errors
    /// [`FactorTableError::TooShort`] when the panel has fewer than 120 days up to `first`. Between 120 and 253 days
    /// the long factors are missing at first, as their minimum counts say.
    pub fn new(
        market: &Market,
        config: &FactorConfig,
        first: DayIndex,
        last: DayIndex,
    ) -> Result<Self, FactorTableError> {
        let days = first.index()..last.index().max(first.index()) + 1;
        if days.start + 1 < Self::MIN_HISTORY_DAYS {
            return Err(FactorTableError::TooShort {
                have_days: days.start + 1,
                need_days: Self::MIN_HISTORY_DAYS,
            });
        }
        let mut raw = Vec::new();
        let mut technicals = Vec::new();
        let mut amounts = Vec::new();
        for (name, _) in market.names() {
            let history = History::new(market, name, 0..days.end);
            raw.push(compute(&history.series(), config, days.clone())?);
            technicals.push(compute_technicals(&history.series(), days.clone())?);
            amounts.push(mean_amount(&history.series(), WEIGHT_WINDOW, days.clone())?);
        }
        let mut table = Self {
            days: days.clone(),
            names: raw.len(),
            raw,
            technicals,
            mean_amount: amounts,
            z: Vec::new(),
        };
        for day in days {
            let scores = table.cross_section(market, day)?;
            table.z.extend(scores);
        }
        Ok(table)
    }

    /// The z-scores of one day: names x factors.
    fn cross_section(&self, market: &Market, day: usize) -> Result<Vec<f64>, CrossSectionError> {
        let config = CrossSectionConfig::KTD;
        let mut columns: Vec<Vec<f64>> = Factor::ALL
            .into_iter()
            .map(|factor| {
                self.raw
                    .iter()
                    .map(|name| name.value(factor, day).unwrap_or(f64::NAN))
                    .collect()
            })
            .collect();
        let missing = missing_per_row(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let members: Vec<bool> = market
            .names()
            .zip(&missing)
            .map(|((name, _), missing)| config.covers(*missing) && self.is_in_moments(market, name, day))
            .collect();
        for (factor, column) in Factor::ALL.into_iter().zip(&mut columns) {
            standardise(column, &members, Center::Equal, &config)?;
            for ((score, name), missing) in column.iter_mut().zip(&self.raw).zip(&missing) {
                if !config.covers(*missing) || name.value(factor, day).is_none() {
                    *score = f64::NAN;
                }
            }
        }
        let by_name = (0..self.names).flat_map(|row| columns.iter().map(move |column| column.get(row)));
        Ok(by_name.map(|score| score.copied().unwrap_or(f64::NAN)).collect())
    }

    /// Whether a covered name counts in the moments: an index member that traded and has a regression weight
    /// (docs/spec/factor-model.md#standardise).
    fn is_in_moments(&self, market: &Market, name: NameId, day: usize) -> bool {
        let Some(index) = market.day_at(day) else {
            return false;
        };
        let within = day.saturating_sub(self.days.start);
        let amount = self
            .mean_amount
            .get(name.slot())
            .and_then(|amounts| amounts.get(within));
        market
            .date(index)
            .is_some_and(|date| market.is_member(name, date))
            && market.bar(name, index).is_some_and(|bar| bar.volume > 0)
            && amount.is_some_and(|amount| *amount > 0.0)
    }

    /// The days of the table, as places of the calendar.
    #[must_use]
    pub const fn days(&self) -> &Range<usize> {
        &self.days
    }

    pub(crate) fn factor(&self, name: NameId, day: DayIndex, factor: Factor) -> Option<f64> {
        self.raw.get(name.slot())?.value(factor, day.index())
    }

    pub(crate) fn factor_z(&self, name: NameId, day: DayIndex, factor: Factor) -> Option<f64> {
        let row = day.index().checked_sub(self.days.start)? * self.names + name.slot();
        if self.names <= name.slot() {
            return None;
        }
        self.z
            .get(row * Factor::ALL.len() + factor.index())
            .copied()
            .filter(|score| score.is_finite())
    }

    pub(crate) fn technical(&self, name: NameId, day: DayIndex, technical: Technical) -> Option<f64> {
        self.technicals.get(name.slot())?.value(technical, day.index())
    }
}
