//! The computed values of one name, a column a measure.

use super::factor::Factor;
use super::technical::Technical;
use std::ops::Range;

/// Equal columns over one range of days.
#[derive(Debug, Clone)]
struct Table {
    days: Range<usize>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    fn column(&self, index: usize) -> &[f64] {
        self.columns.get(index).map_or(&[], Vec::as_slice)
    }

    fn value(&self, index: usize, day: usize) -> Option<f64> {
        let row = day.checked_sub(self.days.start)?;
        self.column(index)
            .get(row)
            .copied()
            .filter(|value| value.is_finite())
    }
}

/// The nine factors of one name over a range of days.
#[derive(Debug, Clone)]
pub struct FactorColumns(Table);

impl FactorColumns {
    pub(super) fn new(days: Range<usize>, column: impl FnMut(Factor) -> Vec<f64>) -> Self {
        let columns = Factor::ALL.into_iter().map(column).collect();
        Self(Table { days, columns })
    }

    /// The factor at the close of `day`; `None` when missing or outside [`Self::days`].
    #[must_use]
    pub fn value(&self, factor: Factor, day: usize) -> Option<f64> {
        self.0.value(factor.index(), day)
    }

    /// The factor over all days held, for bulk work: missing is `f64::NAN`.
    #[must_use]
    pub fn column(&self, factor: Factor) -> &[f64] {
        self.0.column(factor.index())
    }

    /// The days held.
    #[must_use]
    pub const fn days(&self) -> &Range<usize> {
        &self.0.days
    }
}

/// The technicals of one name over a range of days.
#[derive(Debug, Clone)]
pub struct TechnicalColumns(Table);

impl TechnicalColumns {
    pub(super) fn new(days: Range<usize>, column: impl FnMut(Technical) -> Vec<f64>) -> Self {
        let columns = Technical::ALL.into_iter().map(column).collect();
        Self(Table { days, columns })
    }

    /// The technical at the close of `day`; `None` when missing or outside [`Self::days`].
    #[must_use]
    pub fn value(&self, technical: Technical, day: usize) -> Option<f64> {
        self.0.value(technical.index(), day)
    }

    /// The technical over all days held, for bulk work: missing is `f64::NAN`.
    #[must_use]
    pub fn column(&self, technical: Technical) -> &[f64] {
        self.0.column(technical.index())
    }

    /// The days held.
    #[must_use]
    pub const fn days(&self) -> &Range<usize> {
        &self.0.days
    }
}
