//! The parts of returns, one row a day.

/// A part of a day's return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The common factor on what was invested.
    Common,
    /// A style factor, by its place in the model.
    Style(usize),
    /// Specific return of what was held.
    Selection,
    /// What the basis leaves to the moment of the day's trades.
    Execution,
    /// Fills away from the open.
    Slip,
    /// Fees.
    Cost,
    /// Rounding of corporate actions.
    Corporate,
    /// P&L of holdings that the model does not cover.
    Unattributed,
}

/// Parts that are not styles.
const OTHERS: usize = 7;

/// A table of parts: one row a day, one column a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    styles: usize,
    values: Vec<f64>,
}

impl Parts {
    pub(super) const fn new(styles: usize) -> Self {
        Self {
            styles,
            values: Vec::new(),
        }
    }

    /// Style factors of the model.
    #[must_use]
    pub const fn styles(&self) -> usize {
        self.styles
    }

    const fn width(&self) -> usize {
        self.styles + OTHERS
    }

    /// All parts in the order of the columns: common, the styles, selection, execution, slip, cost, corporate,
    /// unattributed.
    pub fn all(&self) -> impl Iterator<Item = Part> + use<> {
        let others = [
            Part::Selection,
            Part::Execution,
            Part::Slip,
            Part::Cost,
            Part::Corporate,
            Part::Unattributed,
        ];
        std::iter::once(Part::Common)
            .chain((0..self.styles).map(Part::Style))
            .chain(others)
    }

    const fn column(&self, part: Part) -> usize {
        match part {
            Part::Common => 0,
            Part::Style(style) => 1 + style,
            Part::Selection => self.styles + 1,
            Part::Execution => self.styles + 2,
            Part::Slip => self.styles + 3,
            Part::Cost => self.styles + 4,
            Part::Corporate => self.styles + 5,
            Part::Unattributed => self.styles + 6,
        }
    }

    /// A new row of zeros, to be filled.
    pub(super) fn push_row(&mut self) -> &mut [f64] {
        let start = self.values.len();
        self.values.resize(start + self.width(), 0.0);
        self.values.get_mut(start..).unwrap_or(&mut [])
    }

    /// One row a day.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width())
    }

    /// The daily values of one part.
    pub fn daily(&self, part: Part) -> impl Iterator<Item = f64> {
        let column = self.column(part);
        self.rows()
            .map(move |row| row.get(column).copied().unwrap_or(0.0))
    }

    /// Each part summed over days with these weights, in the order of [`Self::all`].
    #[must_use]
    pub fn weighted_sums(&self, weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.width()];
        for (row, weight) in self.rows().zip(weights) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += weight * value;
            }
        }
        sums
    }

    /// One part of a row or of [`Self::weighted_sums`].
    #[must_use]
    pub fn part(&self, row: &[f64], part: Part) -> f64 {
        row.get(self.column(part)).copied().unwrap_or(0.0)
    }
}
