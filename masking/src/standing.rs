//! Where a value stands in a cross-section, from counts alone.

/// Where a name's value stands among the other index members that have one.
///
/// All is whole numbers, so no sum of floats decides a percentile or a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    below: usize,
    equal: usize,
    others: usize,
}

impl Standing {
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

    /// The third it stands in: -1, 0 or 1.
    pub(crate) const fn band(self) -> i8 {
        let (above, all) = self.halves();
        if 3 * above < all {
            -1
        } else if 2 * all < 3 * above {
            1
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_bands_by_hand() {
        for (counts, tenths, band) in [
            ((0, 0, 4), 0, -1),
            ((1, 0, 4), 250, -1),
            ((2, 0, 4), 500, 0),
            ((3, 0, 4), 750, 1),
            ((4, 0, 4), 1000, 1),
            ((0, 4, 4), 500, 0),
            ((1, 1, 3), 500, 0),
            ((1, 0, 3), 333, 0),
            ((2, 0, 3), 667, 0),
            ((299, 0, 299), 1000, 1),
        ] {
            let (below, equal, others) = counts;
            let standing = Standing::new(below, equal, others).unwrap();
            assert_eq!(
                (standing.percentile_tenths(), standing.band()),
                (tenths, band),
                "{counts:?}"
            );
        }
        assert_eq!(Standing::new(0, 0, 0), None);
        assert_eq!(Standing::new(2, 2, 3), None);
    }

    #[test]
    fn the_thirds_are_even() {
        let bands = (0..300)
            .filter_map(|below| Standing::new(below, 0, 299))
            .map(Standing::band);
        let counted = bands.fold([0; 3], |mut counts, band| {
            counts[usize::try_from(band + 1).unwrap()] += 1;
            counts
        });
        assert_eq!(counted, [100; 3]);
    }
}
