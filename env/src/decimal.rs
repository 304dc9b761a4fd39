//! Exact decimals: adjustment factors and prices as they were written.

use num_bigint::BigInt;
use std::cmp::Ordering;
use std::fmt;

/// A non-negative decimal `mantissa / 10^scale`, without trailing zeros, so that equal values are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    mantissa: u64,
    scale: u8,
}

/// A text that is no decimal we can hold exactly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Not a number.
    #[error("{text:?} is not a decimal number")]
    Malformed {
        /// The text as given.
        text: String,
    },
    /// Below zero.
    #[error("{text} is negative")]
    Negative {
        /// The text as given.
        text: String,
    },
    /// More digits than an exact value may have (19 significant ones, 30 after the point).
    #[error("{text} has more digits than can be held exactly")]
    TooPrecise {
        /// The text as given.
        text: String,
    },
}

const MAX_SCALE: u8 = 30;

impl Decimal {
    /// One.
    pub const ONE: Self = Self {
        mantissa: 1,
        scale: 0,
    };
    /// Zero.
    pub const ZERO: Self = Self {
        mantissa: 0,
        scale: 0,
    };

    /// Reads a decimal such as `1.234567`, `12`, `1e-3` or `2.50E2`.
    ///
    /// # Errors
    /// [`DecimalError`] when the text is no number, negative, or too precise to hold exactly.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        let malformed = || DecimalError::Malformed {
            text: text.to_owned(),
        };
        let unsigned = text.strip_prefix('+').unwrap_or(text);
        let (unsigned, negative) = unsigned
            .strip_prefix('-')
            .map_or((unsigned, false), |rest| (rest, true));
        let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().map_err(|_| malformed())?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let has_digits = !whole.is_empty() || !fraction.is_empty();
        let all_digits = whole
            .bytes()
            .chain(fraction.bytes())
            .all(|byte| byte.is_ascii_digit());
        if !has_digits || !all_digits {
            return Err(malformed());
        }
        let too_precise = || DecimalError::TooPrecise {
            text: text.to_owned(),
        };
        let significant = format!("{whole}{fraction}");
        let trimmed = significant.trim_end_matches('0');
        let dropped = significant.len().saturating_sub(trimmed.len());
        if trimmed.is_empty() {
            return Ok(Self::ZERO);
        }
        if negative {
            return Err(DecimalError::Negative {
                text: text.to_owned(),
            });
        }
        let mantissa = trimmed.parse::<u64>().map_err(|_| too_precise())?;
        let places = i64::try_from(fraction.len()).map_err(|_| too_precise())?;
        let dropped = i64::try_from(dropped).map_err(|_| too_precise())?;
        let scale = places.saturating_sub(dropped).saturating_sub(i64::from(exponent));
        Self::from_parts(mantissa, scale).ok_or_else(too_precise)
    }

    /// The shortest decimal that reads back as this float, or `None` when it is negative, not finite or too wide.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if let Some(decimal) = Self::from_short_f64(value) {
            return Some(decimal);
        }
        Self::parse(&format!("{value:e}")).ok()
    }

    /// The fast way for prices and factors as people write them.
    ///
    /// A decimal of at most 15 digits is the only such decimal that reads as its float, and a quotient of two exactly
    /// held integers is rounded as reading the decimal would be; so equality proves that it is the shortest.
    fn from_short_f64(value: f64) -> Option<Self> {
        const LARGEST: f64 = 1e15;
        let mut power = 1.0;
        for scale in 0..=6_u8 {
            let mantissa = (value * power).round();
            if !(0.0..LARGEST).contains(&mantissa) {
                return None;
            }
            #[expect(clippy::float_cmp, reason = "equality to the bit is what is asked")]
            if mantissa / power == value {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a whole number from 0 to 10^15"
                )]
                return Self::from_parts(mantissa as u64, i64::from(scale));
            }
            power *= 10.0;
        }
        None
    }

    /// The same for a 32-bit float, in its own width (Qlib's bins).
    #[must_use]
    pub fn from_f32(value: f32) -> Option<Self> {
        Self::parse(&format!("{value:e}")).ok()
    }

    fn from_parts(mantissa: u64, scale: i64) -> Option<Self> {
        if scale < 0 {
            let power = 10_u64.checked_pow(u32::try_from(scale.unsigned_abs()).ok()?)?;
            return Some(Self {
                mantissa: mantissa.checked_mul(power)?,
                scale: 0,
            });
        }
        let scale = u8::try_from(scale).ok().filter(|&scale| scale <= MAX_SCALE)?;
        Some(Self { mantissa, scale })
    }

    /// Rebuilds a decimal from its stored parts; `None` for parts that [`Decimal::stored`] never gives.
    pub(crate) fn from_stored(mantissa: u64, scale: u8) -> Option<Self> {
        let has_trailing_zero = scale > 0 && mantissa.is_multiple_of(10);
        Self::from_parts(mantissa, i64::from(scale)).filter(|_| !has_trailing_zero)
    }

    pub(crate) const fn stored(self) -> (u64, u8) {
        (self.mantissa, self.scale)
    }

    /// `value x 10^zeros`, or `None` when that is too large to hold.
    #[must_use]
    pub fn shifted(self, zeros: u8) -> Option<Self> {
        Self::from_parts(self.mantissa, i64::from(self.scale) - i64::from(zeros))
    }

    /// Whether the value is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// How many digits stand after the point, by value (trailing zeros do not count).
    #[must_use]
    pub const fn places(self) -> u8 {
        self.scale
    }

    /// The nearest float.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        // The text route is exact to the last bit; dividing two rounded floats would not be.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// `value x 10^places` as an integer, or `None` when it does not fit or is not whole.
    #[must_use]
    pub fn scaled(self, places: u8) -> Option<u64> {
        let up = places.checked_sub(self.scale)?;
        self.mantissa.checked_mul(10_u64.checked_pow(u32::from(up))?)
    }

    /// `self x 10^places / divisor`, rounded half-up, with the distance from the exact value in units of
    /// 10^-places: `(rounded, distance > tolerance_tenths / 10)`. `None` when the divisor is zero or the result
    /// does not fit.
    pub(crate) fn divide_to_grid(self, divisor: Self, places: u8) -> Option<GridValue> {
        if divisor.is_zero() {
            return None;
        }
        // value = (m / 10^s) * 10^places / (dm / 10^ds) = m * 10^(places + ds) / (dm * 10^s)
        let shift = i32::from(places) + i32::from(divisor.scale) - i32::from(self.scale);
        let power = |exponent: i32| u32::try_from(exponent).ok().and_then(|e| 10_i128.checked_pow(e));
        let small = || {
            let (numerator, denominator) = if shift >= 0 {
                (
                    i128::from(self.mantissa).checked_mul(power(shift)?)?,
                    i128::from(divisor.mantissa),
                )
            } else {
                (
                    i128::from(self.mantissa),
                    i128::from(divisor.mantissa).checked_mul(power(-shift)?)?,
                )
            };
            grid_from_ratio(numerator, denominator)
        };
        small().or_else(|| {
            let ten = BigInt::from(10);
            let up = ten.pow(u32::try_from(shift.max(0)).ok()?);
            let down = ten.pow(u32::try_from((-shift).max(0)).ok()?);
            grid_from_big(
                &(BigInt::from(self.mantissa) * up),
                &(BigInt::from(divisor.mantissa) * down),
            )
        })
    }

    /// `count x self / other` split into whole part and the fraction's numerator over its denominator.
    pub(crate) fn scale_count(self, count: i64, other: Self) -> Option<(i64, BigInt, BigInt)> {
        let ten = BigInt::from(10);
        let numerator = BigInt::from(count) * self.mantissa * ten.pow(u32::from(other.scale));
        let denominator = BigInt::from(other.mantissa) * ten.pow(u32::from(self.scale));
        if other.is_zero() {
            return None;
        }
        let whole = &numerator / &denominator;
        let rest = &numerator % &denominator;
        Some((i64::try_from(whole).ok()?, rest, denominator))
    }
}

/// A value rounded half-up to a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GridValue {
    /// The value in whole grid steps.
    pub(crate) steps: i64,
    /// Whether the exact value lies more than a tenth of a step from a whole step.
    pub(crate) off_grid: bool,
}

fn grid_from_ratio(numerator: i128, denominator: i128) -> Option<GridValue> {
    let doubled = numerator.checked_mul(2)?.checked_add(denominator)?;
    let steps = doubled.checked_div(denominator.checked_mul(2)?)?;
    let distance = numerator
        .checked_sub(steps.checked_mul(denominator)?)?
        .checked_abs()?;
    let off_grid = distance.checked_mul(10)? > denominator;
    Some(GridValue {
        steps: i64::try_from(steps).ok()?,
        off_grid,
    })
}

fn grid_from_big(numerator: &BigInt, denominator: &BigInt) -> Option<GridValue> {
    let steps: BigInt = (numerator * 2 + denominator) / (denominator * 2);
    let distance: BigInt = numerator - &steps * denominator;
    let distance = if distance < BigInt::ZERO {
        -distance
    } else {
        distance
    };
    Some(GridValue {
        off_grid: distance * 10 > *denominator,
        steps: i64::try_from(steps).ok()?,
    })
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let ten = BigInt::from(10);
        let left = BigInt::from(self.mantissa) * ten.pow(u32::from(other.scale));
        let right = BigInt::from(other.mantissa) * ten.pow(u32::from(self.scale));
        left.cmp(&right)
    }
}

impl fmt::Display for Decimal {
    /// Plain digits without trailing zeros: `1.3`, `0.002`, `12`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.to_string();
        let scale = usize::from(self.scale);
        if scale == 0 {
            return f.write_str(&digits);
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        write!(f, "{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_equal() {
        for (left, right) in [
            ("1.30", "1.3"),
            ("1e-3", "0.001"),
            ("2.50E2", "250"),
            ("007", "7"),
            ("-0", "0"),
        ] {
            assert_eq!(Decimal::parse(left), Decimal::parse(right), "{left} {right}");
        }
    }

    #[test]
    fn text_round_trips_without_trailing_zeros() {
        for (text, shown) in [
            ("1.300000", "1.3"),
            ("0.002", "0.002"),
            ("12", "12"),
            (".5", "0.5"),
            ("100", "100"),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn bad_texts_are_refused() {
        for text in ["", ".", "nan", "inf", "1.2.3", "1,5", "0x10", "1e", "e5", " 1"] {
            assert!(
                matches!(Decimal::parse(text), Err(DecimalError::Malformed { .. })),
                "{text}"
            );
        }
        assert!(matches!(Decimal::parse("-1"), Err(DecimalError::Negative { .. })));
        assert!(matches!(
            Decimal::parse("123456789012345678901"),
            Err(DecimalError::TooPrecise { .. })
        ));
        assert!(matches!(
            Decimal::parse("1e-40"),
            Err(DecimalError::TooPrecise { .. })
        ));
    }

    #[test]
    fn grid_division_is_half_up_and_sees_a_tenth() {
        let grid = |price: &str, factor: &str| {
            Decimal::parse(price)
                .unwrap()
                .divide_to_grid(Decimal::parse(factor).unwrap(), 2)
                .unwrap()
        };
        assert_eq!(
            grid("10.005", "1"),
            GridValue {
                steps: 1001,
                off_grid: true
            }
        );
        assert_eq!(
            grid("10.001", "1"),
            GridValue {
                steps: 1000,
                off_grid: false
            }
        );
        assert_eq!(
            grid("10.0011", "1"),
            GridValue {
                steps: 1000,
                off_grid: true
            }
        );
        assert_eq!(
            grid("13.0001", "1.3"),
            GridValue {
                steps: 1000,
                off_grid: false
            }
        );
        assert_eq!(
            grid("335.50485304", "4.481764"),
            GridValue {
                steps: 7486,
                off_grid: false
            }
        );
        // Wide operands take the big-integer route and agree with it.
        assert_eq!(
            grid("1234567890.123456789", "0.1234567890123456789"),
            GridValue {
                steps: 1_000_000_000_000,
                off_grid: false
            }
        );
        assert_eq!(
            grid("9876543210.987654321", "0.1234567890123456789"),
            GridValue {
                steps: 8_000_000_072_900,
                off_grid: false
            }
        );
    }

    /// The fast way for short decimals against the text of the float.
    #[test]
    fn short_and_long_floats_agree_with_their_text() {
        for hundredths in (0..400_000_u32).step_by(7) {
            let yuan = f64::from(hundredths) / 100.0;
            for value in [yuan, yuan * 1.1, yuan / 3.0, yuan / 1e5, yuan * 1e9] {
                let text = format!("{value:e}");
                assert_eq!(Decimal::from_f64(value), Decimal::parse(&text).ok(), "{text}");
            }
        }
    }

    #[test]
    fn floats_take_their_own_width() {
        assert_eq!(Decimal::from_f32(0.1).unwrap().to_string(), "0.1");
        assert_eq!(Decimal::from_f64(11.434_431).unwrap().to_string(), "11.434431");
        assert_eq!(Decimal::from_f64(f64::NAN), None);
    }
}
