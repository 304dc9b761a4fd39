//! Daily bars of many names as columns.

use crate::error::LeakageError;
use serde::{Deserialize, Serialize};

/// The calendar month of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionMonth {
    /// The year.
    pub year: i32,
    /// The month, 1 for January.
    pub month: u8,
}

/// One column of a bar; files name its prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BarField {
    /// First price.
    Open,
    /// Highest price.
    High,
    /// Lowest price.
    Low,
    /// Last price.
    Close,
    /// Shares traded.
    #[serde(skip)]
    Volume,
}

impl BarField {
    /// All columns, in their order.
    pub const ALL: [Self; 5] = [Self::Open, Self::High, Self::Low, Self::Close, Self::Volume];
}

/// A panel of bars in which a session is whole or missing: without volume, or without one of the prices, it is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGrid {
    months: Vec<SessionMonth>,
    names: usize,
    columns: [Vec<f64>; 5],
}

impl BarGrid {
    /// Adjusted daily bars of sessions in ascending order, in the columns of [`BarField::ALL`]: prices times factor, shares over
    /// factor. Each column has a cell for each name of the first session, then of the second; the order of names is that of
    /// their codes: it decides ties. A cell that is not finite and above 0 makes its bar missing.
    ///
    /// # Errors
    /// [`LeakageError`] without a session or a name, for a column of another size, and for months that go backwards.
    pub fn new(
        months: Vec<SessionMonth>,
        names: usize,
        mut columns: [Vec<f64>; 5],
    ) -> Result<Self, LeakageError> {
        let sessions = months.len();
        if sessions == 0 || names == 0 {
            return Err(LeakageError::Empty);
        }
        for (series, cells) in ["open", "high", "low", "close", "volume"]
            .into_iter()
            .zip(&columns)
        {
            if sessions.checked_mul(names) != Some(cells.len()) {
                let cells = cells.len();
                return Err(LeakageError::Shape {
                    series,
                    cells,
                    sessions,
                    names,
                });
            }
        }
        if let Some(place) = months
            .iter()
            .zip(months.iter().skip(1))
            .position(|(before, month)| month < before)
        {
            return Err(LeakageError::Order { session: place + 1 });
        }
        for place in 0..sessions * names {
            let is_there = |cells: &Vec<f64>| cell(cells, place).is_finite() && 0.0 < cell(cells, place);
            if !columns.iter().all(is_there) {
                for missing in columns.iter_mut().filter_map(|cells| cells.get_mut(place)) {
                    *missing = f64::NAN;
                }
            }
        }
        Ok(Self {
            months,
            names,
            columns,
        })
    }

    /// How many sessions there are.
    #[must_use]
    pub const fn sessions(&self) -> usize {
        self.months.len()
    }

    /// How many names there are.
    #[must_use]
    pub const fn names(&self) -> usize {
        self.names
    }

    /// The month of each session.
    #[must_use]
    pub fn months(&self) -> &[SessionMonth] {
        &self.months
    }

    /// A whole column, NaN where the bar is missing.
    #[must_use]
    pub fn column(&self, field: BarField) -> &[f64] {
        let [open, high, low, close, volume] = &self.columns;
        match field {
            BarField::Open => open,
            BarField::High => high,
            BarField::Low => low,
            BarField::Close => close,
            BarField::Volume => volume,
        }
    }

    /// The cells of a session; empty outside the panel.
    #[must_use]
    pub fn row(&self, field: BarField, session: usize) -> &[f64] {
        let from = session.saturating_mul(self.names);
        let to = from.saturating_add(self.names);
        self.column(field).get(from..to).unwrap_or(&[])
    }

    /// A cell; NaN where the bar is missing or outside the panel.
    #[must_use]
    pub fn value(&self, field: BarField, session: usize, name: usize) -> f64 {
        cell(self.row(field, session), name)
    }

    /// The sessions of a range, as a panel of their own.
    #[must_use]
    pub fn window(&self, sessions: std::ops::Range<usize>) -> Self {
        self.map(sessions, &mut |_, _, _, value| value)
    }

    /// The sessions of a range, with every cell of theirs replaced by a function of column, session, name and cell.
    pub(crate) fn map(
        &self,
        sessions: std::ops::Range<usize>,
        replaced: &mut dyn FnMut(BarField, usize, usize, f64) -> f64,
    ) -> Self {
        let column = |field: BarField| -> Vec<f64> {
            let mut cells = Vec::with_capacity(sessions.len() * self.names);
            for session in sessions.clone() {
                for (name, value) in self.row(field, session).iter().enumerate() {
                    cells.push(replaced(field, session, name, *value));
                }
            }
            cells
        };
        Self {
            columns: BarField::ALL.map(column),
            months: self.months.get(sessions.clone()).unwrap_or(&[]).to_vec(),
            names: self.names,
        }
    }

    /// The sessions of a year; empty where there is none.
    pub(crate) fn year(&self, year: i32) -> std::ops::Range<usize> {
        let from = self.months.partition_point(|month| month.year < year);
        let to = self.months.partition_point(|month| month.year <= year);
        from..to
    }
}

/// A cell of a row; NaN outside it.
pub(crate) fn cell(row: &[f64], place: usize) -> f64 {
    row.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ktd_stats::SplitMix64;

    /// Months of weekday-like sessions: 21 a month.
    pub(crate) fn months(sessions: usize) -> Vec<SessionMonth> {
        (0..sessions)
            .map(|session| SessionMonth {
                year: 2018 + i32::try_from(session / 252).unwrap(),
                month: u8::try_from(session % 252 / 21).unwrap() + 1,
            })
            .collect()
    }

    /// A market of independent names without alpha.
    pub(crate) fn market(sessions: usize, names: usize, seed: u64) -> BarGrid {
        let mut stream = SplitMix64::new(seed);
        let mut normal = || stream.normal();
        let mut columns: [Vec<f64>; 5] = Default::default();
        let mut closes = vec![20.0; names];
        for _ in 0..sessions {
            let common = 0.01 * normal();
            for close in &mut closes {
                let before = *close;
                let open = before * libm::exp(0.008 * normal());
                let own = 0.018 * normal();
                *close = before * libm::exp(common + own);
                let high = open.max(*close) * libm::exp(0.006 * normal().abs());
                let low = open.min(*close) * libm::exp(-0.006 * normal().abs());
                let volume = 1e6 * libm::exp(0.4 * normal() + 8.0 * own.abs());
                for (column, value) in columns.iter_mut().zip([open, high, low, *close, volume]) {
                    column.push(value);
                }
            }
        }
        BarGrid::new(months(sessions), names, columns).unwrap()
    }

    #[test]
    fn a_bar_is_whole_or_missing() {
        let columns = |volume: &[f64]| {
            let prices = || vec![1.0, 2.0, 3.0];
            [
                prices(),
                prices(),
                vec![1.0, f64::NAN, 3.0],
                prices(),
                volume.to_vec(),
            ]
        };
        let month = SessionMonth { year: 2020, month: 1 };
        let grid = BarGrid::new(vec![month], 3, columns(&[1.0, 5.0, 0.0])).unwrap();
        assert!((grid.value(BarField::Close, 0, 0) - 1.0).abs() < 1e-15);
        assert!(grid.value(BarField::Close, 0, 1).is_nan() && grid.value(BarField::Open, 0, 2).is_nan());
        assert!(grid.value(BarField::Open, 7, 0).is_nan() && grid.value(BarField::Open, 0, 7).is_nan());
        let short = BarGrid::new(vec![month], 3, columns(&[1.0]));
        assert!(matches!(short, Err(LeakageError::Shape { series: "volume", .. })));
        let earlier = SessionMonth {
            year: 2019,
            month: 12,
        };
        let backwards = BarGrid::new(vec![month, month, earlier], 1, columns(&[1.0, 1.0, 1.0]));
        assert_eq!(backwards, Err(LeakageError::Order { session: 2 }));
        assert_eq!(
            BarGrid::new(Vec::new(), 3, columns(&[])),
            Err(LeakageError::Empty)
        );
    }
}
