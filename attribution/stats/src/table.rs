//! Daily values of several agents on the same days.

use super::error::StatsError;

/// One row a day, one column an agent; all finite, at least one column.
#[derive(Debug, Clone, PartialEq)]
pub struct DailyTable {
    days: usize,
    columns: usize,
    /// Row by row, so that one drawn day touches one stretch of memory.
    cells: Vec<f64>,
}

impl DailyTable {
    /// A table of columns, such as the daily selection of each agent; `series` names the values in errors.
    ///
    /// # Errors
    /// [`StatsError::NoColumns`], [`StatsError::Ragged`], or [`StatsError::NotFinite`] with the day.
    pub fn new(series: &'static str, columns: &[&[f64]]) -> Result<Self, StatsError> {
        let days = columns.first().ok_or(StatsError::NoColumns)?.len();
        for (column, values) in columns.iter().enumerate() {
            if values.len() != days {
                return Err(StatsError::Ragged {
                    column,
                    days: values.len(),
                    need_days: days,
                });
            }
            super::Sample::new(series, values)?;
        }
        let row = |day: usize| columns.iter().filter_map(move |values| values.get(day).copied());
        Ok(Self {
            days,
            columns: columns.len(),
            cells: (0..days).flat_map(row).collect(),
        })
    }

    /// A table of `ln(1 + r)` of simple daily returns, whose column sums are total log returns.
    ///
    /// # Errors
    /// [`StatsError::Return`] for a return that is not above -1, and as [`DailyTable::new`].
    pub fn log_returns(columns: &[&[f64]]) -> Result<Self, StatsError> {
        for (column, values) in columns.iter().enumerate() {
            let bad = |value: &f64| !(value.is_finite() && -1.0 < *value);
            if let Some((day, value)) = values.iter().enumerate().find(|(_, value)| bad(value)) {
                return Err(StatsError::Return {
                    column,
                    day,
                    value: *value,
                });
            }
        }
        let mut table = Self::new("daily returns", columns)?;
        for cell in &mut table.cells {
            *cell = libm::log1p(*cell);
        }
        Ok(table)
    }

    /// The table less a benchmark's value of each day.
    ///
    /// # Errors
    /// [`StatsError::Length`] unless the benchmark has a value a day; [`StatsError::NotFinite`] for one that is not a
    /// number, or a difference that overflows.
    pub fn less(&self, benchmark: &[f64]) -> Result<Self, StatsError> {
        if benchmark.len() != self.days {
            return Err(StatsError::Length {
                left: self.days,
                right: benchmark.len(),
            });
        }
        let mut cells = Vec::with_capacity(self.cells.len());
        for (place, (row, value)) in self.rows().zip(benchmark).enumerate() {
            let start = cells.len();
            cells.extend(row.iter().map(|cell| cell - value));
            let difference = cells.iter().skip(start).find(|cell| !cell.is_finite());
            if let Some(value) = difference.copied() {
                return Err(StatsError::NotFinite {
                    series: "values less the benchmark's",
                    place,
                    value,
                });
            }
        }
        Ok(self.with_cells(cells))
    }

    /// Days: the rows.
    #[must_use]
    pub const fn days(&self) -> usize {
        self.days
    }

    /// Agents: the columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The rows, day by day.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        self.cells.chunks_exact(self.columns)
    }

    /// The sum of each column, in the order of the days.
    #[must_use]
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for row in self.rows() {
            for (sum, cell) in sums.iter_mut().zip(row) {
                *sum += cell;
            }
        }
        sums
    }

    /// The mean of each column; `None` without a day.
    #[must_use]
    pub fn means(&self) -> Option<Vec<f64>> {
        let days = crate::moments::count(self.days);
        (0 < self.days).then(|| self.sums().into_iter().map(|sum| sum / days).collect())
    }

    /// Each column less its own mean.
    pub(crate) fn centred(&self) -> Self {
        let means = self.means().unwrap_or_default();
        let row =
            |row: &[f64]| -> Vec<f64> { row.iter().zip(&means).map(|(cell, mean)| cell - mean).collect() };
        self.with_cells(self.rows().flat_map(row).collect())
    }

    /// Each cell squared.
    pub(crate) fn squared(&self) -> Self {
        self.with_cells(self.cells.iter().map(|cell| cell * cell).collect())
    }

    /// The last `days` rows.
    pub(crate) fn last(&self, days: usize) -> Self {
        let skipped = self.days.saturating_sub(days) * self.columns;
        Self {
            days: days.min(self.days),
            columns: self.columns,
            cells: self.cells.iter().skip(skipped).copied().collect(),
        }
    }

    const fn with_cells(&self, cells: Vec<f64>) -> Self {
        Self {
            days: self.days,
            columns: self.columns,
            cells,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_table_is_refused() {
        assert_eq!(DailyTable::new("returns", &[]), Err(StatsError::NoColumns));
        assert!(matches!(
            DailyTable::new("returns", &[&[0.1, 0.2], &[0.1]]),
            Err(StatsError::Ragged {
                column: 1,
                days: 1,
                need_days: 2
            })
        ));
        assert!(matches!(
            DailyTable::new("returns", &[&[0.1], &[f64::NAN]]),
            Err(StatsError::NotFinite { place: 0, .. })
        ));
        assert!(matches!(
            DailyTable::log_returns(&[&[0.1, -1.0]]),
            Err(StatsError::Return {
                column: 0,
                day: 1,
                ..
            })
        ));
    }

    #[test]
    fn rows_are_days() {
        let table = DailyTable::new("returns", &[&[1.0, 2.0], &[3.0, 4.0]]).unwrap();
        let rows: Vec<&[f64]> = table.rows().collect();
        assert_eq!(rows, [[1.0, 3.0], [2.0, 4.0]]);
        assert_eq!(table.sums(), [3.0, 7.0]);
        assert_eq!(table.means(), Some(vec![1.5, 3.5]));
        assert_eq!(table.less(&[1.0, 2.0]).unwrap().sums(), [0.0, 4.0]);
        assert!(table.less(&[1.0]).is_err() && table.less(&[1.0, f64::NAN]).is_err());
        assert_eq!(table.last(1).sums(), [2.0, 4.0]);
    }
}
