//! Numbers as the texts whose hashes are compared: Python's shortest and general forms.

/// Digits and decimal exponent of a finite number: `d.ddd x 10^exponent`, and whether it is negative.
struct Scientific {
    is_negative: bool,
    digits: String,
    exponent: i32,
}

impl Scientific {
    /// From Rust's `{:e}` text, such as `-1.25e-3`.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once('e')?;
        let unsigned = mantissa.strip_prefix('-');
        Some(Self {
            is_negative: unsigned.is_some(),
            digits: unsigned.unwrap_or(mantissa).replace('.', ""),
            exponent: exponent.parse().ok()?,
        })
    }

    fn sign(&self) -> &'static str {
        if self.is_negative { "-" } else { "" }
    }

    /// `1.25e-07`: at least two digits of exponent.
    fn with_exponent(&self) -> String {
        let (first, rest) = self.digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if self.exponent < 0 { '-' } else { '+' };
        format!(
            "{}{first}{point}{rest}e{sign}{:02}",
            self.sign(),
            self.exponent.abs()
        )
    }

    /// `0.00125`, `125.0`, `125`: without an exponent; `zero` is what follows a whole number.
    fn plain(&self, zero: &str) -> String {
        let places = usize::try_from(self.exponent.unsigned_abs()).unwrap_or(usize::MAX);
        if self.exponent < 0 {
            return format!(
                "{}0.{}{}",
                self.sign(),
                "0".repeat(places.saturating_sub(1)),
                self.digits
            );
        }
        let whole = places.saturating_add(1);
        match self.digits.split_at_checked(whole) {
            Some((whole, "")) => format!("{}{whole}{zero}", self.sign()),
            Some((whole, fraction)) => format!("{}{whole}.{fraction}", self.sign()),
            None => {
                let padding = "0".repeat(whole.saturating_sub(self.digits.len()));
                format!("{}{}{padding}{zero}", self.sign(), self.digits)
            }
        }
    }
}

/// The shortest decimal that reads back as the same float, as Python's `repr` writes it.
pub(crate) fn shortest(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() {
            "-0.0".to_owned()
        } else {
            "0.0".to_owned()
        };
    }
    Scientific::parse(&format!("{value:e}")).map_or_else(
        || value.to_string(),
        |parts| {
            if (-4..16).contains(&parts.exponent) {
                parts.plain(".0")
            } else {
                parts.with_exponent()
            }
        },
    )
}

/// A number with at most ten significant digits, as C's `%.10g` writes it.
pub(crate) fn ten_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    Scientific::parse(&format!("{value:.9e}")).map_or_else(
        || value.to_string(),
        |mut parts| {
            parts
                .digits
                .truncate(parts.digits.trim_end_matches('0').len().max(1));
            if (-4..10).contains(&parts.exponent) {
                parts.plain("")
            } else {
                parts.with_exponent()
            }
        },
    )
}

/// A number of a card: whole ones below 10^15 as integers, others in their shortest form.
pub(crate) fn card_number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        // A negative zero is a zero.
        format!("{:.0}", value + 0.0)
    } else {
        shortest(value)
    }
}

/// A profit as it is hashed: rounded half up at six places below the scale of max(|value|, 1); `null` where not finite.
pub(crate) fn six_places(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    let scale = libm::pow(10.0, libm::floor(libm::log10(value.abs().max(1.0))) - 6.0);
    ten_digits((value / scale + 0.5).floor() * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_pythons() {
        for (value, text) in [
            (0.1, "0.1"),
            (1e-6, "1e-06"),
            (1.5e-5, "1.5e-05"),
            (0.0001, "0.0001"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (-7.25, "-7.25"),
            (123.0, "123.0"),
        ] {
            assert_eq!(shortest(value), text);
        }
        for (value, text) in [
            (1e9, "1000000000"),
            (1e10, "1e+10"),
            (1.000_001, "1.000001"),
            (1e-6, "1e-06"),
            (-98_765.43, "-98765.43"),
            (2.0 / 3.0, "0.6666666667"),
        ] {
            assert_eq!(ten_digits(value), text);
        }
        assert_eq!(
            (card_number(-0.0), card_number(1e15)),
            ("0".to_owned(), "1000000000000000.0".to_owned())
        );
        assert_eq!(six_places(f64::NAN), "null");
    }
}
