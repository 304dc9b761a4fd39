//! What each replicate of the bootstrap adds up to.

use super::error::StatsError;
use super::stationary::StationaryBootstrap;
use super::table::DailyTable;

/// Column sums of a table, as observed and in each replicate. Intervals, ranks and tests are read off it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplicateSums {
    days: usize,
    columns: usize,
    observed: Vec<f64>,
    /// Replicate by replicate, `columns` each.
    sums: Vec<f64>,
}

impl ReplicateSums {
    /// The sums of one table.
    ///
    /// # Errors
    /// [`StatsError::Drawn`] when the draws are for another number of days.
    pub fn of(table: &DailyTable, draws: &StationaryBootstrap) -> Result<Self, StatsError> {
        let [sums] = Self::of_all([table], draws)?;
        Ok(sums)
    }

    /// The sums of several tables, all under the same draws, which are made once.
    ///
    /// # Errors
    /// As [`ReplicateSums::of`].
    pub fn of_all<const N: usize>(
        tables: [&DailyTable; N],
        draws: &StationaryBootstrap,
    ) -> Result<[Self; N], StatsError> {
        let mut all = tables.map(|table| Self::empty(table, draws));
        Self::fill(&mut all, &tables, draws)?;
        Ok(all)
    }

    /// The same for tables whose number is not known beforehand.
    pub(crate) fn of_each(
        tables: &[&DailyTable],
        draws: &StationaryBootstrap,
    ) -> Result<Vec<Self>, StatsError> {
        let mut all: Vec<Self> = tables.iter().map(|table| Self::empty(table, draws)).collect();
        Self::fill(&mut all, tables, draws)?;
        Ok(all)
    }

    /// Sums that were made elsewhere: `observed` by column, and `sums` replicate by replicate.
    pub(crate) const fn from_parts(days: usize, observed: Vec<f64>, sums: Vec<f64>) -> Self {
        Self {
            days,
            columns: observed.len(),
            observed,
            sums,
        }
    }

    /// Days that each sum runs over.
    #[must_use]
    pub const fn days(&self) -> usize {
        self.days
    }

    /// Columns of the table.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// How many replicates there are.
    #[must_use]
    pub fn replicates(&self) -> usize {
        self.rows().len()
    }

    /// The sums of the table itself, by column.
    #[must_use]
    pub fn observed(&self) -> &[f64] {
        &self.observed
    }

    /// The sums of each replicate, by column.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        self.sums.chunks_exact(self.columns.max(1))
    }

    /// The replicates of one column.
    pub(crate) fn column(&self, column: usize) -> Vec<f64> {
        self.rows().filter_map(|row| row.get(column).copied()).collect()
    }

    fn empty(table: &DailyTable, draws: &StationaryBootstrap) -> Self {
        let replicates = usize::try_from(draws.replicates()).unwrap_or(0);
        Self {
            days: table.days(),
            columns: table.columns(),
            observed: table.sums(),
            sums: Vec::with_capacity(replicates.saturating_mul(table.columns())),
        }
    }

    fn fill(all: &mut [Self], tables: &[&DailyTable], draws: &StationaryBootstrap) -> Result<(), StatsError> {
        for table in tables {
            draws.check_days(table.days())?;
        }
        let mut times = Vec::new();
        for replicate in 0..draws.replicates() {
            draws.multiplicities(replicate, &mut times);
            for (sums, table) in all.iter_mut().zip(tables) {
                sums.push(table, &times);
            }
        }
        Ok(())
    }

    /// Adds a replicate. Days are added in their own order, as often as drawn, so that equal draws have equal bits.
    fn push(&mut self, table: &DailyTable, times: &[f64]) {
        let start = self.sums.len();
        self.sums.resize(start + self.columns, 0.0);
        let (_, sums) = self.sums.split_at_mut(start);
        for (row, times) in table.rows().zip(times) {
            for (sum, cell) in sums.iter_mut().zip(row) {
                *sum += times * cell;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn draws_for_other_days_are_refused() {
        let table = DailyTable::new("returns", &[&[0.1, 0.2]]).unwrap();
        let draws = StationaryBootstrap::new(3, 2.0, 10, 1).unwrap();
        let refused = Err(StatsError::Drawn { drawn: 3, days: 2 });
        assert_eq!(ReplicateSums::of(&table, &draws), refused);
        assert!(ReplicateSums::of_all([&table], &draws).is_err());
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_days_drawn(
            values in prop::collection::vec(-0.1..0.1_f64, 2..40), mean in 1.0..9.0_f64, seed: u64,
        ) {
            let doubled: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
            let one = DailyTable::new("returns", &[&values]).unwrap();
            let two = DailyTable::new("returns", &[&values, &doubled]).unwrap();
            let draws = StationaryBootstrap::new(values.len(), mean, 20, seed).unwrap();
            let sums = ReplicateSums::of(&one, &draws).unwrap();
            for (replicate, row) in (0..20).zip(sums.rows()) {
                let direct: f64 = draws.draw(replicate).map(|day| values[day]).sum();
                prop_assert!((row[0] - direct).abs() < 1e-13);
            }
            let together = ReplicateSums::of_all([&one, &two], &draws).unwrap();
            prop_assert_eq!(&together[0], &sums);
            for (row, other) in sums.rows().zip(together[1].rows()) {
                prop_assert_eq!(row[0].to_bits(), other[0].to_bits());
                prop_assert_eq!((2.0 * row[0]).to_bits(), other[1].to_bits());
            }
        }
    }
}
