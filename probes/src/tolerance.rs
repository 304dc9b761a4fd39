//! How far a shown number may lie from the true one: the levels' rules, which are public.

use crate::parsed_exhibit::ParsedAccount;
use crate::parsed_stock::Form;
use ktd_env::factors::{Factor, Technical};
use ktd_masking::Numeric;

/// Half of the last digit of a number with four significant digits, as a share of it.
const FOUR_DIGITS: f64 = 5e-4;
/// Half of the last digit of a number with four decimals.
const FOUR_DECIMALS: f64 = 5e-5;
/// Half of the last digit of a z-score.
const SCORE: f64 = 5e-4;
/// A little more than one place among 300 members.
const PERCENTILE: f64 = 0.4;

/// The grain of returns, where returns are rounded.
pub(crate) const fn grain(numeric: Numeric) -> Option<f64> {
    match numeric {
        Numeric::RoundedTenth => Some(0.001),
        Numeric::RoundedHalf => Some(0.005),
        Numeric::Exact | Numeric::Rescaled | Numeric::Ranked | Numeric::BandedFive | Numeric::Banded => None,
    }
}

/// Of the logarithm of one shown price.
pub(crate) fn ln_price(numeric: Numeric, shown: f64) -> f64 {
    let last_digit = 0.005 / shown.abs().max(0.01);
    grain(numeric).map_or(last_digit, |grain| grain / 2.0 + last_digit)
}

/// Of a return of the market or of a stock.
pub(crate) fn fraction(numeric: Numeric) -> f64 {
    grain(numeric).map_or(FOUR_DECIMALS, |grain| grain / 2.0)
}

/// Of a shown volume that is a multiple of a mean.
pub(crate) fn volume_ratio(numeric: Numeric) -> f64 {
    grain(numeric).map_or(0.005, |grain| grain * 50.0)
}

/// Of a factor.
pub(crate) fn factor(numeric: Numeric, form: Form, factor: Factor, shown: f64) -> f64 {
    match (form, grain(numeric)) {
        (Form::Raw, None) => (shown.abs() * FOUR_DIGITS).max(1e-12),
        (Form::Raw, Some(grain)) => match factor {
            Factor::Mom12_1 | Factor::High52w => grain / 2.0,
            Factor::Rv60 => grain * 5.0,
            Factor::RevOn | Factor::MomId | Factor::Illiq | Factor::Skew | Factor::CorrPv | Factor::CvVol => {
                (shown.abs() * half_of_last_digit(grain)).max(1e-12)
            }
        },
        (Form::Score, None) => SCORE,
        (Form::Score, Some(grain)) => grain * 50.0,
        (Form::Percentile | Form::Band, _) => PERCENTILE,
    }
}

/// Half of the last of two significant digits, or of one, as a share of the smallest number that has them.
const fn half_of_last_digit(grain: f64) -> f64 {
    if grain < 0.002 { 0.05 } else { 0.5 }
}

/// Of a technical.
pub(crate) fn technical(numeric: Numeric, form: Form, technical: Technical, shown: f64) -> f64 {
    match (form, grain(numeric)) {
        (Form::Percentile | Form::Band, _) => PERCENTILE,
        (Form::Raw | Form::Score, None) => FOUR_DECIMALS.max(shown.abs() * FOUR_DIGITS),
        (Form::Raw | Form::Score, Some(grain)) => match technical {
            Technical::Rsi14 => grain * 500.0,
            Technical::AmountRatio5To20 => grain * 50.0,
            Technical::RangePosition20 => share(numeric),
            Technical::Return1d
            | Technical::Return5d
            | Technical::Return20d
            | Technical::Return60d
            | Technical::MaGap20
            | Technical::MaGap60
            | Technical::Volatility20
            | Technical::Drawdown60
            | Technical::TrueRange14 => grain / 2.0,
        },
    }
}

/// Of a share of a count.
pub(crate) fn share(numeric: Numeric) -> f64 {
    grain(numeric).map_or(0.005, |grain| if grain < 0.002 { 0.025 } else { 0.05 })
}

/// Of a holding's weight.
pub(crate) fn weight(numeric: Numeric) -> f64 {
    match numeric {
        Numeric::Exact | Numeric::Rescaled => FOUR_DECIMALS,
        Numeric::RoundedTenth => 5e-4,
        Numeric::RoundedHalf => 2.5e-3,
        Numeric::Ranked => 5e-3,
        Numeric::BandedFive | Numeric::Banded => 1e-2,
    }
}

/// Of the account's NAV, as a share of it; where it is counted from what the weights leave, in units of the cash.
pub(crate) fn nav(numeric: Numeric, account: &ParsedAccount) -> f64 {
    if let Some(holdings) = account.weighed {
        return weight(numeric) * count(holdings).sqrt() * account.nav;
    }
    match numeric {
        Numeric::Exact => 1e-6,
        Numeric::Rescaled => 1e-4,
        Numeric::RoundedTenth => 1e-3,
        Numeric::RoundedHalf | Numeric::Ranked | Numeric::BandedFive | Numeric::Banded => 5e-3,
    }
}

#[expect(clippy::cast_precision_loss, reason = "holdings are few")]
const fn count(holdings: usize) -> f64 {
    holdings as f64
}
