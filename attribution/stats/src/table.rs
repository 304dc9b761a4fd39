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
    }

    #[test]
    fn rows_are_days() {
        let table = DailyTable::new("returns", &[&[1.0, 2.0], &[3.0, 4.0]]).unwrap();
        let rows: Vec<&[f64]> = table.rows().collect();
        assert_eq!(rows, [[1.0, 3.0], [2.0, 4.0]]);
        assert_eq!(table.sums(), [3.0, 7.0]);
        assert_eq!(table.means(), Some(vec![1.5, 3.5]));
        assert_eq!(table.last(1).sums(), [2.0, 4.0]);
    }
}
