//! The numeric ladder: how much of a number is shown.

use crate::rounding::Rounding;

/// How numbers are shown. The order is that of the ladder: a later rung tells less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Numeric {
    /// True prices, volumes and share counts (KTD-Fin's setting).
    Exact,
    /// Prices and index in points with 100 at the episode's origin, volumes as a ratio to their own 20-day mean,
    /// positions as weights and rounded values, no share counts.
    Rescaled,
    /// As rescaled, on a grid of 0.1 %: points are powers of 1.001, and everything else is rounded as coarsely.
    RoundedTenth,
    /// As rescaled, on a grid of 0.5 %.
    RoundedHalf,
    /// Percentiles among the index members of the as-of day in place of values; no bars, prices or index.
    Ranked,
    /// Bands of five equally large style groups, under ids that are drawn anew every 5 trading days; nothing else of the
    /// market, and of the account only what was ordered.
    BandedFive,
    /// The same with three groups.
    Banded,
}

/// Terms in which factors are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactorScale {
    /// Raw values and z-scores.
    Values,
    /// Percentiles among the index members, 0 to 100.
    Percentiles,
    /// Bands of style groups, 0 in the middle.
    Bands,
}

/// How finely a number of the market is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fineness {
    /// As it is, with the decimals of its kind.
    True,
    /// On a grid.
    Rounded(&'static Rounding),
    /// Not at all.
    Hidden,
}

impl Numeric {
    /// All settings, from the one that tells most.
    pub const ALL: [Self; 7] = [
        Self::Exact,
        Self::Rescaled,
        Self::RoundedTenth,
        Self::RoundedHalf,
        Self::Ranked,
        Self::BandedFive,
        Self::Banded,
    ];

    /// The name in configurations and reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Rescaled => "rescaled",
            Self::RoundedTenth => "rounded-0.1",
            Self::RoundedHalf => "rounded-0.5",
            Self::Ranked => "ranked",
            Self::BandedFive => "banded-5",
            Self::Banded => "banded",
        }
    }

    /// The setting of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|numeric| numeric.label() == text)
    }

    /// Terms in which factors are shown.
    #[must_use]
    pub const fn scale(self) -> FactorScale {
        match self {
            Self::Exact | Self::Rescaled | Self::RoundedTenth | Self::RoundedHalf => FactorScale::Values,
            Self::Ranked => FactorScale::Percentiles,
            Self::BandedFive | Self::Banded => FactorScale::Bands,
        }
    }

    /// Whether the board of a name is shown. Of bands it is not: how many names of each board a screen lists tells the year.
    #[must_use]
    pub const fn shows_boards(self) -> bool {
        !matches!(self, Self::BandedFive | Self::Banded)
    }

    pub(crate) const fn fineness(self) -> Fineness {
        match self {
            Self::Exact | Self::Rescaled => Fineness::True,
            Self::RoundedTenth => Fineness::Rounded(&Rounding::TENTH),
            Self::RoundedHalf => Fineness::Rounded(&Rounding::HALF),
            Self::Ranked | Self::BandedFive | Self::Banded => Fineness::Hidden,
        }
    }

    /// Grain of money in basis points of the initial cash; `None` where money is exact.
    pub(crate) const fn money_bps(self) -> Option<i64> {
        match self {
            Self::Exact => None,
            Self::Rescaled => Some(1),
            Self::RoundedTenth => Some(10),
            Self::RoundedHalf => Some(50),
            // Of bands no money is shown at all.
            Self::Ranked | Self::BandedFive | Self::Banded => Some(100),
        }
    }

    /// What target weights must be multiples of, in millionths of NAV.
    pub(crate) const fn weight_step_millionths(self) -> u32 {
        match self {
            Self::Exact | Self::Rescaled => 1,
            Self::RoundedTenth => 1_000,
            // Half of a whole percent: a target there says no more of a weight than the rounding of what is shown.
            Self::RoundedHalf | Self::Ranked => 5_000,
            Self::BandedFive | Self::Banded => 10_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_has_one_order_and_one_name_a_rung() {
        assert!(Numeric::ALL.is_sorted());
        for numeric in Numeric::ALL {
            assert_eq!(Numeric::parse(numeric.label()), Some(numeric));
        }
        assert_eq!(Numeric::parse("rounded"), None);
        assert!(Numeric::ALL.is_sorted_by_key(|numeric| numeric.money_bps().unwrap_or(0)));
    }
}
