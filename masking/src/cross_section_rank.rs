//! Where a value stands in a cross-section, from counts alone.

/// Where a name's value stands among the other index members that have one.
///
/// All is whole numbers, so no sum of floats decides a percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrossSectionRank {
    below: usize,
    equal: usize,
    others: usize,
}

impl CrossSectionRank {
    /// `below` of the `others` have a lower value and `equal` the same; `None` without others or with counts that do
    /// not fit.
    #[must_use]
    pub const fn new(below: usize, equal: usize, others: usize) -> Option<Self> {
        if others == 0 || others < below.saturating_add(equal) {
            return None;
        }
        Some(Self { below, equal, others })
    }

    /// Twice the number of others it stands above, half of an equal one counted, of twice all.
    const fn halves(self) -> (usize, usize) {
        (2 * self.below + self.equal, 2 * self.others)
    }

    /// Percentile in tenths: 0 the lowest, 1000 the highest.
    pub(crate) const fn percentile_tenths(self) -> usize {
        let (above, all) = self.halves();
        (1000 * above + all / 2) / all
    }

    /// The share of the others that it stands above: 0 the lowest, 1 the highest.
    #[expect(clippy::cast_precision_loss, reason = "names are some hundreds")]
    pub(crate) const fn share(self) -> f64 {
        let (above, all) = self.halves();
        above as f64 / all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_hand() {
        for (counts, tenths) in [
            ((0, 0, 4), 0),
            ((1, 0, 4), 250),
            ((2, 0, 4), 500),
            ((4, 0, 4), 1000),
            ((0, 4, 4), 500),
            ((1, 1, 3), 500),
            ((1, 0, 3), 333),
            ((2, 0, 3), 667),
            ((299, 0, 299), 1000),
        ] {
            let (below, equal, others) = counts;
            let rank = CrossSectionRank::new(below, equal, others).unwrap();
            assert_eq!(rank.percentile_tenths(), tenths, "{counts:?}");
        }
        assert_eq!(
            CrossSectionRank::new(3, 0, 4).map(CrossSectionRank::share),
            Some(0.75)
        );
        assert_eq!(CrossSectionRank::new(0, 0, 0), None);
        assert_eq!(CrossSectionRank::new(2, 2, 3), None);
    }
}
