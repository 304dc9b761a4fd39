//! What the names of each sector earned on a day beyond the factors.

use super::day_fit::{DayFit, Leg};

impl DayFit {
    /// Sums up what its sectors selected; the last step of a fit.
    pub(super) fn with_sector_sums(mut self) -> Self {
        let sectors = self.sectors.of_row.iter().flatten().max();
        let mut sums = vec![(0, [0.0; 3]); sectors.map_or(0, |last| usize::from(*last) + 1)];
        for row in (0..self.names()).filter(|row| self.is_estimated(*row)) {
            let sector = self.sector(row).map(usize::from);
            if let Some((names, legs)) = sector.and_then(|sector| sums.get_mut(sector)) {
                *names += 1;
                for (sum, own) in legs.iter_mut().zip(self.selection_legs(row)) {
                    *sum += own;
                }
            }
        }
        self.sectors.sums = sums;
        self
    }

    /// The sector of a row on the day before, where it is known.
    #[must_use]
    pub fn sector(&self, row: usize) -> Option<u16> {
        self.sectors.of_row.get(row).copied().flatten()
    }

    /// What the other names of a covered row's sector selected on the mean, by leg: those of the estimation set, equally weighted. 0
    /// where there is no other.
    #[must_use]
    pub fn sector_return(&self, row: usize) -> [f64; 3] {
        let sector = self.sector(row).filter(|_| self.is_covered(row));
        let found = sector.and_then(|sector| self.sectors.sums.get(usize::from(sector)));
        let Some((names, sums)) = found.copied() else {
            return [0.0; 3];
        };
        let (own, others) = if self.is_estimated(row) {
            (self.selection_legs(row), names.saturating_sub(1))
        } else {
            ([0.0; 3], names)
        };
        let others = f64::from(u32::try_from(others).unwrap_or(u32::MAX));
        if others < 1.0 {
            return [0.0; 3];
        }
        std::array::from_fn(|leg| {
            let at = |legs: &[f64; 3]| legs.get(leg).copied().unwrap_or(0.0);
            (at(&sums) - at(&own)) / others
        })
    }

    /// A row's selection by leg, in the order of [`Leg::ALL`].
    fn selection_legs(&self, row: usize) -> [f64; 3] {
        let influence: f64 = self.own_influence(row).iter().flatten().sum();
        Leg::ALL.map(|leg| self.specific_return(row, leg) * (1.0 + influence))
    }
}
