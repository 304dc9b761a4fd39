//! Technical indicators: what a trader expects in addition to the factors.

/// A technical at the close of day `s`, free of scale. Windows are fixed by the name and count exchange days.
///
/// Letters are those of [`super::Factor`]. A mark carries through a suspension, so a suspended day has a
/// change of zero in what is told of `M`, and is left out of what is told of `r`, `H`, `L` and `A`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Technical {
    /// `M[s] / M[s-1] - 1`.
    Return1d,
    /// `M[s] / M[s-5] - 1`.
    Return5d,
    /// `M[s] / M[s-20] - 1`.
    Return20d,
    /// `M[s] / M[s-60] - 1`.
    Return60d,
    /// `M[s] / mean(M, 20 days) - 1`.
    MaGap20,
    /// `M[s] / mean(M, 60 days) - 1`.
    MaGap60,
    /// `sd(r, 20 days) * sqrt(252)`, of at least 14 days.
    Volatility20,
    /// `mean(A, 5 days) / mean(A, 20 days)`, of at least 3 and 14 days.
    AmountRatio5To20,
    /// Relative strength, simple means (Cutler): `100 * U / (U + D)`, where `U` and `D` sum the rises and
    /// falls of `M` over 14 days; missing when it never moved. Wilder's smoothing has no finite window and is
    /// not used.
    Rsi14,
    /// `M[s] / max(M, 60 days) - 1`.
    Drawdown60,
    /// `(M[s] - min(L, 20 days)) / (max(H, 20 days) - min(L, 20 days))`, of at least 14 days.
    RangePosition20,
    /// `mean(max(H[d], M[d-1]) - min(L[d], M[d-1]), 14 days) / M[s]`, of at least 10 days (average true
    /// range).
    TrueRange14,
}

impl Technical {
    /// Every technical, in the order shown.
    pub const ALL: [Self; 12] = [
        Self::Return1d,
        Self::Return5d,
        Self::Return20d,
        Self::Return60d,
        Self::MaGap20,
        Self::MaGap60,
        Self::Volatility20,
        Self::AmountRatio5To20,
        Self::Rsi14,
        Self::Drawdown60,
        Self::RangePosition20,
        Self::TrueRange14,
    ];

    /// The name used in tables and tool calls.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Return1d => "return_1d",
            Self::Return5d => "return_5d",
            Self::Return20d => "return_20d",
            Self::Return60d => "return_60d",
            Self::MaGap20 => "ma_gap_20",
            Self::MaGap60 => "ma_gap_60",
            Self::Volatility20 => "volatility_20",
            Self::AmountRatio5To20 => "amount_ratio_5_20",
            Self::Rsi14 => "rsi_14",
            Self::Drawdown60 => "drawdown_60",
            Self::RangePosition20 => "range_position_20",
            Self::TrueRange14 => "true_range_14",
        }
    }

    /// What it measures and its unit.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Return1d => "return over 1 day (ratio)",
            Self::Return5d => "return over 5 days (ratio)",
            Self::Return20d => "return over 20 days (ratio)",
            Self::Return60d => "return over 60 days (ratio)",
            Self::MaGap20 => "close over its 20-day mean, minus 1 (ratio)",
            Self::MaGap60 => "close over its 60-day mean, minus 1 (ratio)",
            Self::Volatility20 => "standard deviation of daily returns over 20 days (ratio a year)",
            Self::AmountRatio5To20 => "mean daily amount traded over 5 days over that of 20 days (ratio)",
            Self::Rsi14 => "relative strength over 14 days, simple means (0 to 100)",
            Self::Drawdown60 => "close over its highest close of 60 days, minus 1 (ratio, 0 or less)",
            Self::RangePosition20 => "place of the close between the low (0) and high (1) of 20 days",
            Self::TrueRange14 => "mean true range of 14 days over the close (ratio)",
        }
    }

    /// The technical of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|technical| technical.name() == name)
    }

    /// Its place in [`Self::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
