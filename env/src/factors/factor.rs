//! The nine style factors.

/// A style factor, known at the close of an information day `s` from days up to `s` alone.
///
/// `M` is the mark (last close), `O`, `H`, `C` the day's open, high and close, `V` the shares and `A` the CNY
/// traded, `r` the close-to-close return of a name traded on both days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    /// `M[s-21] / M[s-252] - 1` (Jegadeesh and Titman 1993; Carhart 1997).
    Mom12_1,
    /// `sd(r, 60 days) * sqrt(252)` (Ang et al. 2006).
    Rv60,
    /// `ln(1e8 * mean(|r| / A, 20 days))` (Amihud 2002).
    Illiq,
    /// `mean(ln(O[d] / C[d-1]), 20 days)` (Lou, Polk and Skouras 2019).
    RevOn,
    /// `mean(ln(C[d] / O[d]), 20 days)` (Lou, Polk and Skouras 2019).
    MomId,
    /// Negative coefficient of skewness of `r`, 60 days (Chen, Hong and Stein 2001).
    Skew,
    /// Pearson correlation of `r` and `ln V`, 20 days.
    CorrPv,
    /// `M[s] / max(H, 252 days)` (George and Hwang 2004).
    High52w,
    /// `sd(A, 60 days) / mean(A, 60 days)` (Chordia, Subrahmanyam and Anshuman 2001).
    CvVol,
}

impl Factor {
    /// Every factor, in the order of regression columns.
    pub const ALL: [Self; 9] = [
        Self::Mom12_1,
        Self::Rv60,
        Self::Illiq,
        Self::RevOn,
        Self::MomId,
        Self::Skew,
        Self::CorrPv,
        Self::High52w,
        Self::CvVol,
    ];

    /// The name used in tables, tool calls and configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mom12_1 => "MOM_12_1",
            Self::Rv60 => "RV_60",
            Self::Illiq => "ILLIQ",
            Self::RevOn => "REV_ON",
            Self::MomId => "MOM_ID",
            Self::Skew => "SKEW",
            Self::CorrPv => "CORR_PV",
            Self::High52w => "HIGH_52W",
            Self::CvVol => "CV_VOL",
        }
    }

    /// What it measures, its unit, and what a high value means; windows in words, as their lengths are
    /// configurable.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Mom12_1 => "return over the past year without its latest month (ratio); high: past winner",
            Self::Rv60 => {
                "standard deviation of daily returns over the past quarter (ratio a year); high: volatile"
            }
            Self::Illiq => {
                "log of the mean absolute daily return per CNY 100 million traded, past month (log ratio); \
                 high: illiquid"
            }
            Self::RevOn => {
                "mean log return from close to next open, past month (ratio a day); high: rises overnight"
            }
            Self::MomId => {
                "mean log return from open to close, past month (ratio a day); high: rises intraday"
            }
            Self::Skew => {
                "negative skewness of daily returns over the past quarter (no unit); high: prone to crashes"
            }
            Self::CorrPv => {
                "correlation of daily return and log volume, past month (-1 to 1); high: rises on heavy volume"
            }
            Self::High52w => "price over its highest of the past year (0 to 1); high: near its high",
            Self::CvVol => {
                "standard deviation over mean of the daily amount traded, past quarter (ratio); \
                 high: erratic trading"
            }
        }
    }

    /// The factor of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|factor| factor.name() == name)
    }

    /// Its place in [`Self::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
