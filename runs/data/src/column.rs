//! What a column of a file of rows is.

/// What a column of a long file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Date,
    Symbol,
    Open,
    High,
    Low,
    Close,
    Volume,
    Amount,
    Factor,
    Suspended,
    St,
    Listed,
    Sector,
    ChangePercent,
    /// Close / previous close - 1, Qlib's habit.
    ChangeRatio,
    Dividend,
    Bonus,
    /// Close x factor: the factor is its share of the close.
    AdjustedClose,
    /// A factor that counts from its day until the next one of the name.
    FactorSince,
    /// 0 on a day without trading, which is the contrary of `Suspended`.
    Trading,
    /// `BaoStock`'s kind of prices: 3 is as traded.
    AdjustFlag,
    /// What is predicted of a stock, in a file of scores alone.
    Score,
}

impl Column {
    pub(super) const fn of_name(name: &str) -> Option<Self> {
        // Matching bytes keeps this a table.
        Some(match name.as_bytes() {
            b"date" | b"trade_date" | b"datetime" => Self::Date,
            b"symbol" | b"code" | b"instrument" | b"ts_code" => Self::Symbol,
            b"open" => Self::Open,
            b"high" => Self::High,
            b"low" => Self::Low,
            b"close" => Self::Close,
            b"volume" => Self::Volume,
            b"amount" => Self::Amount,
            b"factor" => Self::Factor,
            b"suspended" => Self::Suspended,
            b"st" | b"is_st" => Self::St,
            b"listed" | b"list_date" => Self::Listed,
            b"sector" | b"sw_l1" | b"industry" => Self::Sector,
            b"pct_chg" => Self::ChangePercent,
            b"change" => Self::ChangeRatio,
            b"dividend" => Self::Dividend,
            b"bonus" => Self::Bonus,
            b"adj_close" => Self::AdjustedClose,
            b"factor_since" => Self::FactorSince,
            b"tradestatus" => Self::Trading,
            b"adjustflag" => Self::AdjustFlag,
            _ => return None,
        })
    }

    /// The name used in messages.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Symbol => "symbol",
            Self::Open => "open",
            Self::High => "high",
            Self::Low => "low",
            Self::Close => "close",
            Self::Volume => "volume",
            Self::Amount => "amount",
            Self::Factor => "factor",
            Self::Suspended => "suspended",
            Self::St => "st",
            Self::Listed => "listed",
            Self::Sector => "sector",
            Self::ChangePercent => "pct_chg",
            Self::ChangeRatio => "change",
            Self::Dividend => "dividend",
            Self::Bonus => "bonus",
            Self::AdjustedClose => "adj_close",
            Self::FactorSince => "factor_since",
            Self::Trading => "tradestatus",
            Self::AdjustFlag => "adjustflag",
            Self::Score => "score",
        }
    }
}
