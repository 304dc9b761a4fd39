//! Amounts of money and prices of tokens, exact.

use ktd_env::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;
use std::fmt;
use std::iter::Sum;

/// US dollars in millionths of a millionth: a price per million tokens with six decimals is exact a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Picodollars(pub u64);

/// A text that is no amount we can hold exactly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no amount: write a decimal of at most {places} places, such as 25.00")]
pub struct AmountError {
    text: String,
    places: u8,
}

/// Decimal places of [`Picodollars`].
const PLACES: u8 = 12;
/// Decimal places of a price per million tokens.
const PRICE_PLACES: u8 = 6;
/// Decimal places of an exchange rate.
const RATE_PLACES: u8 = 9;

impl Picodollars {
    /// The amount in US dollars, for display.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
    pub fn to_usd(self) -> f64 {
        const PER_DOLLAR: f64 = 1e12;
        self.0 as f64 / PER_DOLLAR
    }

    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Reads an amount in US dollars, such as `25.00`.
    ///
    /// # Errors
    /// [`AmountError`] for anything but a decimal of at most twelve places that fits.
    pub fn parse(text: &str) -> Result<Self, AmountError> {
        scaled(text, PLACES).map(Self)
    }

    /// The sum; what is too much to hold stays at the most that can be held, 18 million dollars.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or nothing when `other` is more.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Picodollars {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::plus)
    }
}

impl fmt::Display for Picodollars {
    /// `$25.00`; under ten dollars four places, and never nothing for something: `$0.0001` stands for less too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CENT: u64 = 10_000_000_000;
        const HUNDREDTH_OF_A_CENT: u64 = CENT / 100;
        if self.0 < 1_000 * CENT {
            let shown = self.0.div_ceil(HUNDREDTH_OF_A_CENT);
            write!(f, "${}.{:04}", shown / 10_000, shown % 10_000)
        } else {
            let shown = self.0.div_ceil(CENT);
            write!(f, "${}.{:02}", shown / 100, shown % 100)
        }
    }
}

/// The price of a token, in millionths of a millionth of a currency's unit; written as the price of a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
pub struct TokenPrice(#[schemars(with = "String")] pub u64);

impl TokenPrice {
    /// The price of so many tokens, in millionths of a millionth of the currency's unit.
    #[must_use]
    pub fn of(self, tokens: u64) -> u128 {
        u128::from(self.0).saturating_mul(u128::from(tokens))
    }

    /// The price times `quarters / 4`, rounded up.
    #[must_use]
    pub fn quarters(self, quarters: u64) -> Self {
        Self(self.0.saturating_mul(quarters).div_ceil(4))
    }
}

impl Serialize for TokenPrice {
    /// The price of a million tokens as text, so that no reader makes a float of it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&decimal_text(self.0, PRICE_PLACES))
    }
}

impl<'de> Deserialize<'de> for TokenPrice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_scaled(deserializer, PRICE_PLACES).map(Self)
    }
}

/// How many units of a currency are one US dollar, in billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
pub struct UnitsPerDollar(#[schemars(with = "String")] u64);

impl UnitsPerDollar {
    /// What so many millionths of a millionth of the currency's unit are in dollars, rounded up.
    #[must_use]
    pub fn dollars(self, amount: u128) -> u128 {
        const BILLION: u128 = 1_000_000_000;
        amount.saturating_mul(BILLION).div_ceil(u128::from(self.0.max(1)))
    }
}

impl Serialize for UnitsPerDollar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&decimal_text(self.0, RATE_PLACES))
    }
}

impl<'de> Deserialize<'de> for UnitsPerDollar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match read_scaled(deserializer, RATE_PLACES)? {
            0 => Err(de::Error::custom("an exchange rate of 0 is none")),
            rate => Ok(Self(rate)),
        }
    }
}

fn scaled(text: &str, places: u8) -> Result<u64, AmountError> {
    let value = Decimal::parse(text).ok().and_then(|value| value.scaled(places));
    value.ok_or_else(|| AmountError {
        text: text.to_owned(),
        places,
    })
}

/// A JSON number or text, read from its decimal digits: a float has lost them.
fn read_scaled<'de, D: Deserializer<'de>>(deserializer: D, places: u8) -> Result<u64, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let text = raw.get().trim_matches('"');
    scaled(text, places).map_err(de::Error::custom)
}

fn decimal_text(value: u64, places: u8) -> String {
    let places = usize::from(places);
    let digits = format!("{value:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(places));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        whole.to_owned()
    } else {
        format!("{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_from_their_digits() {
        assert_eq!(Picodollars::parse("25.00").unwrap().0, 25_000_000_000_000);
        assert_eq!(Picodollars::parse("0.000000000001").unwrap().0, 1);
        for bad in ["", "$25", "-1", "1,5", "0.0000000000001", "99999999999"] {
            assert!(Picodollars::parse(bad).is_err(), "{bad:?}");
        }
        let price: TokenPrice = serde_json::from_str("0.044").unwrap();
        assert_eq!(price, TokenPrice(44_000));
        assert_eq!(serde_json::from_str::<TokenPrice>("\"0.044\"").unwrap(), price);
        assert_eq!(serde_json::to_string(&price).unwrap(), "\"0.044\"");
        assert_eq!(serde_json::to_string(&TokenPrice(5_000_000)).unwrap(), "\"5\"");
        assert!(serde_json::from_str::<TokenPrice>("0.0000001").is_err());
    }

    /// 0.1 + 0.2 in floats is not 0.3; a price's digits are what is charged.
    #[test]
    fn no_float_comes_between() {
        let price: TokenPrice = serde_json::from_str("0.1").unwrap();
        assert_eq!(price.of(3), 300_000);
        let rate: UnitsPerDollar = serde_json::from_str("7.1").unwrap();
        // 71 units are exactly ten dollars; a little more is rounded up.
        assert_eq!(rate.dollars(71_000_000_000_000), 10_000_000_000_000);
        assert_eq!(rate.dollars(71_000_000_000_001), 10_000_000_000_001);
        assert!(serde_json::from_str::<UnitsPerDollar>("0").is_err());
    }

    #[test]
    fn amounts_are_shown_for_people() {
        for (amount, shown) in [
            (0, "$0.0000"),
            (1, "$0.0001"),
            (1_234_500_000_000, "$1.2345"),
            (25_000_000_000_000, "$25.00"),
        ] {
            assert_eq!(Picodollars(amount).to_string(), shown);
        }
    }
}
