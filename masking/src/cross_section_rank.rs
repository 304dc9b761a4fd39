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
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "names are some hundreds")]
    pub const fn share(self) -> f64 {
        let (above, all) = self.halves();
        above as f64 / all as f64
    }
}

/// A share of the others that a name stands above, as a score with mean 0 and standard deviation 1 over all names.
pub(crate) fn score(share: f64) -> f64 {
    12.0_f64.sqrt() * (share - 0.5)
}

/// Values of one column over some names, ascending.
#[derive(Debug, Clone)]
pub struct RankedValues(Vec<f64>);

impl RankedValues {
    /// The values that there are.
    #[must_use]
    pub fn of<N: Copy>(names: &[N], value: impl Fn(N) -> Option<f64>) -> Self {
        // Adding zero turns -0.0 into 0.0, which `total_cmp` would tell apart.
        let mut values: Vec<f64> = names
            .iter()
            .filter_map(|name| value(*name).map(|value| value + 0.0))
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// Where a value stands among them; one of them is not compared with itself.
    #[must_use]
    pub fn rank(&self, value: f64, is_one_of_them: bool) -> Option<CrossSectionRank> {
        let value = value + 0.0;
        let below = self.0.partition_point(|other| other.total_cmp(&value).is_lt());
        let up_to = self.0.partition_point(|other| other.total_cmp(&value).is_le());
        let itself = usize::from(is_one_of_them);
        let equal = (up_to - below).checked_sub(itself)?;
        CrossSectionRank::new(below, equal, self.0.len().checked_sub(itself)?)
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

    #[test]
    fn one_of_them_is_not_compared_with_itself() {
        let section = RankedValues(vec![-1.0, 0.0, 0.0, 2.0]);
        assert_eq!(section.rank(-0.0, true), CrossSectionRank::new(1, 1, 3));
        assert_eq!(section.rank(0.0, false), CrossSectionRank::new(1, 2, 4));
        assert_eq!(section.rank(3.0, false), CrossSectionRank::new(4, 0, 4));
        assert_eq!(section.rank(2.0, true), CrossSectionRank::new(3, 0, 3));
        assert_eq!(RankedValues(vec![1.0]).rank(1.0, true), None);
        assert_eq!(RankedValues(Vec::new()).rank(1.0, false), None);
    }
}
