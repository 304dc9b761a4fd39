//! Whether volumes and amounts are in the units that they are taken for: amount / (volume x price) lies near one.

use super::columns::Column;
use super::source_forms::SourceForm;
use super::units::Unit;
use crate::DataFileError;
use ktd_env::{Bar, Market, PriceBasis};
use std::collections::BTreeMap;

/// Quotients of more zeros are near no power of ten.
const MOST_ZEROS: i32 = 9;
/// A stock is judged by itself from so many days with trading on.
const DAYS_OF_ONE: usize = 20;

/// How many days have a quotient near each power of ten, and how many there are.
#[derive(Debug, Default)]
struct Quotients {
    near: BTreeMap<i32, usize>,
    /// Those within a tenth of another power of ten than 0, which no price of a day is from its mean.
    at: BTreeMap<i32, usize>,
    days: usize,
}

impl Quotients {
    fn add(&mut self, quotient: f64) {
        self.days += 1;
        let (mut left, mut power) = (quotient, 0);
        while 5.0 <= left && power < MOST_ZEROS {
            (left, power) = (left / 10.0, power + 1);
        }
        while left < 0.5 && -MOST_ZEROS < power {
            (left, power) = (left * 10.0, power - 1);
        }
        // Between two powers of ten a quotient is near neither.
        if (0.5..2.0).contains(&left) {
            *self.near.entry(power).or_default() += 1;
        }
        if power != 0 && (0.9..1.1).contains(&left) {
            *self.at.entry(power).or_default() += 1;
        }
    }

    /// The power of ten of so many days of a stock that its unit was another on them, where that of the others is right.
    fn wrong_for_a_time(&self) -> Option<(i32, usize)> {
        let (power, count) = self.at.iter().max_by_key(|(_, count)| **count)?;
        (DAYS_OF_ONE <= *count).then_some((*power, *count))
    }

    /// The power of ten with most days, where it is another than 0 or has not most of them.
    fn wrong(&self) -> Option<(i32, usize)> {
        let most = self.near.iter().max_by_key(|(_, count)| **count);
        let (power, count) = most.map_or((0, 0), |(power, count)| (*power, *count));
        let is_right = power == 0 && self.days < count.saturating_mul(2);
        (!is_right && 0 < self.days).then_some((power, count))
    }
}

/// A stock with the power of ten of its quotient, on how many of how many days.
type FoundUnit<'c> = (&'c str, i32, usize, usize);

/// The check of a panel's units.
///
/// # Errors
/// [`DataFileError`] where the bulk of days, or of the days of a stock, has a quotient of another power of ten, or a stock on so many
/// days that its unit changed; it says which unit would fit.
pub(super) fn check_units(market: &Market, forms: &[SourceForm]) -> Result<(), DataFileError> {
    if !market.amount_declared() {
        return Ok(());
    }
    // Adjusted prices lie from those traded by whatever their factor is on a day.
    let is_as_traded = market.basis() == PriceBasis::Raw;
    let mut all = Quotients::default();
    let mut differing: Vec<FoundUnit<'_>> = Vec::new();
    let mut changing: Vec<FoundUnit<'_>> = Vec::new();
    for (name, info) in market.names() {
        let mut own = Quotients::default();
        for quotient in market.bars_of(name).filter_map(|(_, bar)| quotient(&bar)) {
            own.add(quotient);
            all.add(quotient);
        }
        if let Some((power, count)) = own.wrong().filter(|_| DAYS_OF_ONE <= own.days) {
            differing.push((info.ticker.reveal(), power, count, own.days));
        } else if let Some((power, count)) = own.wrong_for_a_time().filter(|_| is_as_traded) {
            changing.push((info.ticker.reveal(), power, count, own.days));
        }
    }
    let Some((power, count)) = all.wrong() else {
        differ_from_the_rest(&differing, market.names().len())?;
        return changed_for_a_time(&changing, market.names().len());
    };
    Err(DataFileError::input(
        format_args!(
            "amount / (volume x price) is {} days with trading, where it must be near 1",
            near(power, count, all.days)
        ),
        forms
            .iter()
            .filter(|_| is_bulk(count, all.days))
            .find_map(|form| fitting(form, power))
            .unwrap_or_else(|| {
                "no pair of units fits: check what the columns of volume and amount hold, and that prices are as traded, not adjusted"
                    .to_owned()
            }),
    ))
}

/// Share of the low or the high by which the mean price of a day may lie outside of them, for rounding.
const BEYOND: f64 = 0.01;

/// The check of prices that are said to be as traded: the mean price of a day, amount / volume, lies between its low and its high.
/// Factors beside adjusted prices would count dividends twice.
///
/// # Errors
/// [`DataFileError`] where it lies outside on more than a tenth of the days with trading, or on most of those of a stock.
pub(super) fn check_as_traded(market: &Market, has_factors: bool) -> Result<(), DataFileError> {
    if !market.amount_declared() || market.basis() != PriceBasis::Raw {
        return Ok(());
    }
    let (mut days, mut outside) = (0_usize, 0_usize);
    let mut adjusted: Vec<(&str, usize, usize)> = Vec::new();
    for (name, info) in market.names() {
        let bars = market
            .bars_of(name)
            .filter_map(|(_, bar)| Some((mean_price(&bar)?, bar)));
        let (mut own_days, mut own_outside) = (0_usize, 0_usize);
        for (mean, bar) in bars {
            let (low, high) = (yuan(bar.low.0), yuan(bar.high.0));
            own_days += 1;
            own_outside += usize::from(mean < low * (1.0 - BEYOND) || high * (1.0 + BEYOND) < mean);
        }
        if DAYS_OF_ONE <= own_days && is_bulk(own_outside, own_days) {
            adjusted.push((info.ticker.reveal(), own_outside, own_days));
        }
        (days, outside) = (days + own_days, outside + own_outside);
    }
    let what = if days < outside * 10 {
        format!("on {outside} of {days} days with trading")
    } else if let Some((code, outside, days)) = adjusted.first() {
        format!(
            "in {} of {} stocks ({}), of {code} on {outside} of {days} days with trading",
            adjusted.len(),
            market.names().len(),
            shown_codes(adjusted.iter().map(|found| found.0))
        )
    } else {
        return Ok(());
    };
    Err(DataFileError::input(
        format_args!(
            "the mean price of a day, amount / volume, lies outside its low and high {what}: the prices are adjusted, not as traded"
        ),
        if has_factors {
            "fetch prices as traded (AKShare: adjust=\"\") beside these factors; where the prices are those traded x these factors, \
             say so with --basis adjusted"
        } else {
            "fetch prices as traded (AKShare: adjust=\"\") with the factors beside them: from adjusted prices alone nobody can tell at \
             which orders would have been filled"
        },
    ))
}

#[expect(clippy::cast_precision_loss, reason = "volumes lie far below 2^53")]
fn mean_price(bar: &Bar) -> Option<f64> {
    (0 < bar.volume && 0.0 < bar.amount_cny).then(|| bar.amount_cny / bar.volume as f64)
}

#[expect(clippy::cast_precision_loss, reason = "prices lie far below 2^53")]
fn yuan(fen: i64) -> f64 {
    const FEN_PER_YUAN: f64 = 100.0;
    fen as f64 / FEN_PER_YUAN
}

/// The refusal of stocks whose units are not those of the rest, with code, power of ten, and its days of how many.
fn differ_from_the_rest(differing: &[FoundUnit<'_>], names: usize) -> Result<(), DataFileError> {
    let Some((code, power, count, days)) = differing.first() else {
        return Ok(());
    };
    let codes = shown_codes(differing.iter().map(|found| found.0));
    Err(DataFileError::input(
        format_args!(
            "the units of {} of {names} stocks differ from the rest: {codes}; amount / (volume x price) is {} days of {code} with \
             trading, where it must be near 1, as it is of the rest",
            differing.len(),
            near(*power, *count, *days)
        ),
        format_args!(
            "fetch {codes} again, or leave them out: --map would change the units of all; what is an index is given to --index"
        ),
    ))
}

/// The refusal of stocks whose unit is another one on some days, with code, power of ten, and its days of how many.
fn changed_for_a_time(changing: &[FoundUnit<'_>], names: usize) -> Result<(), DataFileError> {
    let Some((code, power, count, days)) = changing.first() else {
        return Ok(());
    };
    let codes = shown_codes(changing.iter().map(|found| found.0));
    Err(DataFileError::input(
        format_args!(
            "the unit of volume or amount changes within {} of {names} stocks: {codes}; amount / (volume x price) is {} on {count} of {days} \
             days of {code} with trading, where it must be 1, as it is on the others",
            changing.len(),
            factor(*power)
        ),
        "turn these days into the unit of the others, or fetch all days in one call",
    ))
}

/// The first codes.
fn shown_codes<'c>(codes: impl Iterator<Item = &'c str>) -> String {
    const SHOWN: usize = 5;
    let mut codes: Vec<&str> = codes.take(SHOWN + 1).collect();
    if SHOWN < codes.len() {
        codes.truncate(SHOWN);
        codes.push("...");
    }
    codes.join(", ")
}

const fn is_bulk(count: usize, days: usize) -> bool {
    days < count.saturating_mul(2)
}

/// Near which power of ten the quotient lies, and on how many days.
fn near(power: i32, count: usize, days: usize) -> String {
    if is_bulk(count, days) {
        format!("near {} on {count} of {days}", factor(power))
    } else {
        format!("near no one power of ten on {count} of {days}")
    }
}

fn quotient(bar: &Bar) -> Option<f64> {
    let price = yuan(bar.high.0 + bar.low.0 + bar.close.0) / 3.0;
    Some(mean_price(bar)? / price)
}

/// A power of ten as people write it.
fn factor(power: i32) -> String {
    let zeros = "0".repeat(usize::try_from(power.unsigned_abs()).unwrap_or_default());
    if power < 0 {
        format!("1/1{zeros}")
    } else {
        format!("1{zeros}")
    }
}

/// The units under which the quotient would be near one: of those that fit, the pair with fewest changes.
fn fitting(form: &SourceForm, power: i32) -> Option<String> {
    let (volume, amount) = (form.taken(Column::Volume)?, form.taken(Column::Amount)?);
    let zeros = |unit: Unit| i32::from(unit.zeros);
    let pairs = Unit::of(Column::Volume)
        .flat_map(|of_volume| Unit::of(Column::Amount).map(move |of_amount| (of_volume, of_amount)));
    let fits = |(of_volume, of_amount): &(Unit, Unit)| {
        power + zeros(*of_amount) - zeros(amount.1) == zeros(*of_volume) - zeros(volume.1)
    };
    let changes = |pair: &(Unit, Unit)| u8::from(pair.0 != volume.1) + u8::from(pair.1 != amount.1);
    let (of_volume, of_amount) = pairs.filter(fits).min_by_key(changes)?;
    let (of_volume, of_amount) = (
        of_volume.names(Column::Volume).0,
        of_amount.names(Column::Amount).0,
    );
    Some(format!(
        "volume in {of_volume} and amount in {of_amount} would fit: --map volume={}:{of_volume},amount={}:{of_amount}",
        volume.0, amount.0
    ))
}
