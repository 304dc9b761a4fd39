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

/// Adjusted daily bars as they are handed in, each column a cell for each name of the first session, then of the second.
/// The order of names is that of their codes: it decides ties.
#[derive(Debug, Clone, Copy)]
pub struct BarColumns<'a> {
    /// First prices times factor.
    pub open: &'a [f64],
    /// Highest prices times factor.
    pub high: &'a [f64],
    /// Lowest prices times factor.
    pub low: &'a [f64],
    /// Last prices times factor.
    pub close: &'a [f64],
    /// Shares over factor.
    pub volume: &'a [f64],
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
    /// All columns.
    pub const ALL: [Self; 5] = [Self::Open, Self::High, Self::Low, Self::Close, Self::Volume];
}

/// A panel of bars in which a session is whole or missing: without volume, or without one of the prices, it is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGrid {
    months: Vec<SessionMonth>,
    names: usize,
    open: Vec<f64>,
    high: Vec<f64>,
    low: Vec<f64>,
    close: Vec<f64>,
    volume: Vec<f64>,
}

impl BarGrid {
    /// Bars of sessions in ascending order; a cell that is not finite and above 0 makes its bar missing.
    ///
    /// # Errors
    /// [`LeakageError`] without a session or a name, for a column of another size, and for months that go backwards.
    pub fn new(months: &[SessionMonth], names: usize, bars: &BarColumns<'_>) -> Result<Self, LeakageError> {
        let sessions = months.len();
        if sessions == 0 || names == 0 {
            return Err(LeakageError::Empty);
        }
        let given = [
            ("open", bars.open),
            ("high", bars.high),
            ("low", bars.low),
            ("close", bars.close),
            ("volume", bars.volume),
        ];
        for (series, cells) in given {
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
        let pairs = months.iter().zip(months.iter().skip(1));
        if let Some(place) = pairs.into_iter().position(|(before, month)| month < before) {
            return Err(LeakageError::Order { session: place + 1 });
        }
        let is_there = |place: usize| {
            let cells = given.iter().map(|(_, cells)| cell(cells, place));
            cells.into_iter().all(|cell| cell.is_finite() && 0.0 < cell)
        };
        let there: Vec<bool> = (0..sessions * names).map(is_there).collect();
        let kept = |cells: &[f64]| -> Vec<f64> {
            let cells = cells.iter().zip(&there);
            cells
                .map(|(cell, there)| if *there { *cell } else { f64::NAN })
                .collect()
        };
        Ok(Self {
            months: months.to_vec(),
            names,
            open: kept(bars.open),
            high: kept(bars.high),
            low: kept(bars.low),
            close: kept(bars.close),
            volume: kept(bars.volume),
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
        match field {
            BarField::Open => &self.open,
            BarField::High => &self.high,
            BarField::Low => &self.low,
            BarField::Close => &self.close,
            BarField::Volume => &self.volume,
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
        let mut column = |field: BarField| -> Vec<f64> {
            let mut cells = Vec::with_capacity(sessions.len() * self.names);
            for session in sessions.clone() {
                for (name, value) in self.row(field, session).iter().enumerate() {
                    cells.push(replaced(field, session, name, *value));
                }
            }
            cells
        };
        Self {
            open: column(BarField::Open),
            high: column(BarField::High),
            low: column(BarField::Low),
            close: column(BarField::Close),
            volume: column(BarField::Volume),
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
        let [open, high, low, close, volume] = &columns;
        let bars = BarColumns {
            open,
            high,
            low,
            close,
            volume,
        };
        BarGrid::new(&months(sessions), names, &bars).unwrap()
    }

    #[test]
    fn a_bar_is_whole_or_missing() {
        let columns = |volume: &'static [f64]| BarColumns {
            open: &[1.0, 2.0, 3.0],
            high: &[1.0, 2.0, 3.0],
            low: &[1.0, f64::NAN, 3.0],
            close: &[1.0, 2.0, 3.0],
            volume,
        };
        let month = SessionMonth { year: 2020, month: 1 };
        let grid = BarGrid::new(&[month], 3, &columns(&[1.0, 5.0, 0.0])).unwrap();
        assert!((grid.value(BarField::Close, 0, 0) - 1.0).abs() < 1e-15);
        assert!(grid.value(BarField::Close, 0, 1).is_nan() && grid.value(BarField::Open, 0, 2).is_nan());
        assert!(grid.value(BarField::Open, 7, 0).is_nan() && grid.value(BarField::Open, 0, 7).is_nan());
        let short = BarGrid::new(&[month], 3, &columns(&[1.0]));
        assert!(matches!(short, Err(LeakageError::Shape { series: "volume", .. })));
        let earlier = SessionMonth {
            year: 2019,
            month: 12,
        };
        let backwards = BarGrid::new(&[month, month, earlier], 1, &columns(&[1.0, 1.0, 1.0]));
        assert_eq!(backwards, Err(LeakageError::Order { session: 2 }));
        assert_eq!(BarGrid::new(&[], 3, &columns(&[])), Err(LeakageError::Empty));
    }
}
