//! What the price database knows of a stock on a day.

use ktd_env::factors::{Factor, Technical};
use ktd_masking::Numeric;

/// A column of the database: one number a stock and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Logarithm of the total-return close; carried through days without trading.
    LnClose,
    /// Logarithm of open over close of the day.
    LnOpen,
    /// Logarithm of high over close of the day.
    LnHigh,
    /// Logarithm of low over close of the day.
    LnLow,
    /// The real close in yuan; carried through days without trading.
    CloseYuan,
    /// Logarithm of the shares traded.
    LnShares,
    /// Logarithm of the shares traded in terms of one day's shares, so that days compare.
    LnVolume,
    /// 0 inside the price limits, 1 at limit up, 2 at limit down, 3 without trading, 4 without limits.
    State,
    /// The style group under `banded` and under `banded-5`; missing on days without membership.
    GroupOfThree,
    GroupOfFive,
    /// A factor's raw value.
    Raw(Factor),
    /// A factor's z-score.
    Score(Factor),
    /// A factor's percentile among the members of the day, 0 to 100.
    Percentile(Factor),
    /// A technical of the snapshot.
    Technical(Technical),
    /// Its percentile among the members of the day.
    TechnicalPercentile(Technical),
}

/// Columns before those of factors.
const PLAIN: usize = 10;
const FACTORS: usize = Factor::ALL.len();
const TECHNICALS: usize = Technical::ALL.len();

impl Column {
    pub(crate) const COUNT: usize = PLAIN + 3 * FACTORS + 2 * TECHNICALS;

    /// The column of the groups of a rung.
    pub(crate) const fn of_groups(numeric: Numeric) -> Option<Self> {
        match numeric {
            Numeric::Exact
            | Numeric::Rescaled
            | Numeric::RoundedTenth
            | Numeric::RoundedHalf
            | Numeric::Ranked => None,
            Numeric::BandedFive => Some(Self::GroupOfFive),
            Numeric::Banded => Some(Self::GroupOfThree),
        }
    }

    pub(crate) const fn place(self) -> usize {
        match self {
            Self::LnClose => 0,
            Self::LnOpen => 1,
            Self::LnHigh => 2,
            Self::LnLow => 3,
            Self::CloseYuan => 4,
            Self::LnShares => 5,
            Self::LnVolume => 6,
            Self::State => 7,
            Self::GroupOfThree => 8,
            Self::GroupOfFive => 9,
            Self::Raw(factor) => PLAIN + factor.index(),
            Self::Score(factor) => PLAIN + FACTORS + factor.index(),
            Self::Percentile(factor) => PLAIN + 2 * FACTORS + factor.index(),
            Self::Technical(technical) => PLAIN + 3 * FACTORS + technical.index(),
            Self::TechnicalPercentile(technical) => PLAIN + 3 * FACTORS + TECHNICALS + technical.index(),
        }
    }
}

/// A column of the market: one number a day, read from what the context tool says of that day unmasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DayColumn {
    IndexLevel,
    IndexReturn1d,
    IndexReturn5d,
    IndexReturn20d,
    IndexReturn60d,
    IndexVolatility,
    IndexDrawdown,
    Members,
    Advancers,
    Decliners,
    Unchanged,
    AtLimitUp,
    AtLimitDown,
    Suspended,
    Dispersion,
    /// Logarithm of the index's level.
    LnIndex,
    /// Calendar days since the trading day before.
    Gap,
    /// Place in the calendar.
    Place,
    /// Stocks that are listed on the day or were before it.
    Listed,
    /// Of the members of this day and of the one a period before: the share that moved from one group to another, by the
    /// place `from x groups + to`.
    MovesOfThree(usize),
    MovesOfFive(usize),
    /// Of the board at this place of the list of boards.
    BoardMembers(usize),
    BoardReturn1d(usize),
    BoardReturn20d(usize),
    BoardShareUp(usize),
    /// Place of the board's return among the boards, 1 for the highest.
    BoardRank1d(usize),
    BoardRank20d(usize),
}

impl DayColumn {
    /// Whether the column is about the index rather than the cross-section.
    pub(crate) const fn is_of_index(self) -> bool {
        matches!(
            self,
            Self::IndexLevel
                | Self::IndexReturn1d
                | Self::IndexReturn5d
                | Self::IndexReturn20d
                | Self::IndexReturn60d
                | Self::IndexVolatility
                | Self::IndexDrawdown
                | Self::LnIndex
                | Self::Listed
                | Self::MovesOfThree(_)
                | Self::MovesOfFive(_)
        )
    }
}
