//! Who may stand in for a holding where luck is drawn.

use crate::model::DayFit;

/// Whom luck draws for a holding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peers {
    /// Names of its sector and of its half by size, so that a bet on sectors or sizes is no part of what luck is compared with.
    Alike,
    /// Anybody of the estimation set: to show what the other way misses.
    Everyone,
}

/// The fewest names of a sector, and of a half of it by size, among whom luck draws.
const LEAST_PEERS: usize = 5;

impl Peers {
    /// The rows that may stand in for one that is bought on the day of a fit, itself among them.
    ///
    /// [`Self::Alike`] are the estimation set's names of its sector; of sectors with too few, and of names without one, they are put
    /// together. Where both halves have enough, it is the half on the same side of the median regression weight, which
    /// stands for size.
    pub(super) fn of(self, fit: &DayFit, row: usize) -> Vec<usize> {
        let all: Vec<usize> = (0..fit.names()).filter(|row| fit.is_estimated(*row)).collect();
        if self == Self::Everyone {
            return all;
        }
        let size_of = |sector: Option<u16>| all.iter().filter(|row| fit.sector(**row) == sector).count();
        let has_enough = |sector: Option<u16>| sector.is_some() && LEAST_PEERS <= size_of(sector);
        let own = fit.sector(row);
        let alike: Vec<usize> = if has_enough(own) {
            all.iter()
                .copied()
                .filter(|other| fit.sector(*other) == own)
                .collect()
        } else {
            all.iter()
                .copied()
                .filter(|other| !has_enough(fit.sector(*other)))
                .collect()
        };
        let alike = if alike.len() < LEAST_PEERS { all } else { alike };
        half(fit, row, alike)
    }
}

/// The half by size to which a row belongs, where both have enough names.
fn half(fit: &DayFit, row: usize, names: Vec<usize>) -> Vec<usize> {
    let mut by_size: Vec<(f64, usize)> = names
        .iter()
        .map(|row| (fit.weight(*row).unwrap_or(0.0), *row))
        .collect();
    by_size.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    let middle = by_size.len() / 2;
    let (Some(own), Some((median, _))) = (fit.weight(row), by_size.get(middle)) else {
        return names;
    };
    if middle < LEAST_PEERS {
        return names;
    }
    let is_large = *median <= own;
    let kept = by_size
        .iter()
        .enumerate()
        .filter(|(place, _)| (middle <= *place) == is_large);
    let mut kept: Vec<usize> = kept.map(|(_, (_, row))| *row).collect();
    kept.sort_unstable();
    kept
}
