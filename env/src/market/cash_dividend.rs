//! Cash dividends by date.

use crate::day::TradeDate;
use crate::decimal::Decimal;
use crate::money::{AmountTooLarge, Fen, Shares, divide_half_up};

/// A dividend in cash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CashDividend {
    /// First trading day without it; who holds at the close before is paid.
    pub ex_day: TradeDate,
    /// CNY a share, before tax.
    pub yuan_per_share: Decimal,
}

impl CashDividend {
    /// The dividend of some shares, half-up to a fen.
    pub(crate) fn of_shares(self, shares: Shares) -> Result<Fen, AmountTooLarge> {
        const FEN_PER_YUAN: i128 = 100;
        let (mantissa, scale) = self.yuan_per_share.stored();
        let yuan = i128::from(shares.0).checked_mul(mantissa.into());
        let fen = yuan.and_then(|yuan| yuan.checked_mul(FEN_PER_YUAN));
        let unit = 10_i128.checked_pow(scale.into());
        fen.zip(unit).map_or(Err(AmountTooLarge), |(fen, unit)| {
            divide_half_up(fen, unit).map(Fen)
        })
    }
}
