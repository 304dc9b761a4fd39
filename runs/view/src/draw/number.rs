//! Numbers as a page shows them: few digits, a true minus sign, and never a value that is no number.

/// What stands where there is no number.
const NONE: &str = "n/a";

/// A count as a number.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "days, agents and orders stay far below 2^53"
)]
pub const fn real(count: usize) -> f64 {
    count as f64
}

fn signed(text: &str) -> String {
    // A rounded zero has no sign.
    let is_zero = !text.contains(|digit: char| digit.is_ascii_digit() && digit != '0');
    match text.strip_prefix('-') {
        Some(rest) if is_zero => rest.to_owned(),
        Some(rest) => format!("\u{2212}{rest}"),
        None => text.to_owned(),
    }
}

/// A number with so many decimals.
#[must_use]
pub fn decimals(value: f64, places: usize) -> String {
    if value.is_finite() {
        signed(&format!("{value:.places$}"))
    } else {
        NONE.to_owned()
    }
}

/// A share in percent with so many decimals; thousands and millions of percent in words that stay short.
fn in_percent(share: f64, places: usize) -> String {
    let percent = share * 100.0;
    let (scaled, unit, places) = match percent.abs() {
        millions if 1e6 <= millions => (percent / 1e6, "M", 2),
        thousands if 1e5 <= thousands => (percent / 1e3, "k", 0),
        thousands if 1e4 <= thousands => (percent / 1e3, "k", 1),
        _ => (percent, "", places),
    };
    if percent.is_finite() {
        format!("{}{unit}\u{a0}%", decimals(scaled, places))
    } else {
        NONE.to_owned()
    }
}

/// A share in percent.
#[must_use]
pub fn percent(share: f64) -> String {
    // Fewer decimals for large ones.
    let places = match share.abs() {
        large if 10.0 <= large => 0,
        middle if 1.0 <= middle => 1,
        _ => 2,
    };
    in_percent(share, places)
}

/// A difference of shares in percent, with its sign.
#[must_use]
pub fn change(share: f64) -> String {
    let shown = percent(share);
    let is_positive = 0.0 < share && shown.contains(|digit: char| digit.is_ascii_digit() && digit != '0');
    if is_positive { format!("+{shown}") } else { shown }
}

/// A share in basis points, as of a day's return: `3.14 bp`, `-0.02 bp`.
#[must_use]
pub fn basis_points(share: f64) -> String {
    format!("{}\u{a0}bp", decimals(share * 1e4, 2))
}

/// A share of a whole in percent, as coarse as one reads it: `46 %`, `4.2 %`, `0 %`.
#[must_use]
pub fn portion(share: f64) -> String {
    in_percent(share, usize::from((0.0005..0.1).contains(&share)))
}

/// A share on an axis whose ticks lie about `step` apart.
#[must_use]
pub fn axis_percent(share: f64, step: f64) -> String {
    let places = match step {
        coarse if 0.01 <= coarse => 0,
        middle if 0.001 <= middle => 1,
        fine if 0.0001 <= fine => 2,
        _ => 3,
    };
    in_percent(share, places)
}

/// A p-value.
#[must_use]
pub fn p_value(p: f64) -> String {
    if p.is_finite() && 0.0 < p && p < 0.001 {
        format!("{p:.1e}").replace('-', "\u{2212}")
    } else {
        decimals(p, if p < 0.1 { 4 } else { 3 })
    }
}

/// A small number by its order: `3e-16`.
#[must_use]
pub fn scientific(value: f64) -> String {
    if value.abs() < f64::MIN_POSITIVE {
        "0".to_owned()
    } else if value.is_finite() {
        format!("{value:.0e}").replace('-', "\u{2212}")
    } else {
        NONE.to_owned()
    }
}

/// The first digits of a hash.
#[must_use]
pub fn short_hash(hash: &str) -> String {
    hash.chars().take(10).collect()
}

/// A count with thousands separated by commas: `163,749`.
#[must_use]
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// `1 agent`, `2 agents`.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    format!("{} {}", grouped(count), plural(count, noun))
}

/// `agent` of one, `agents` of others.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        noun.to_owned()
    } else {
        format!("{noun}s")
    }
}

/// `a, b and c`.
#[must_use]
pub fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// A key in words: `total_return` is `total return`.
#[must_use]
pub fn named(key: &str) -> String {
    key.replace('_', " ")
}

/// Seconds as coarse as one reads them: `40 s`, `12 min`, `3.5 h`.
#[must_use]
pub fn duration(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60);
    if seconds < 120 {
        format!("{seconds} s")
    } else if minutes < 120 {
        format!("{minutes} min")
    } else {
        format!("{}.{} h", minutes / 60, minutes % 60 / 6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_anything_else() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let shown = [
                percent(value),
                change(value),
                portion(value),
                decimals(value, 2),
                scientific(value),
            ];
            assert_eq!(shown, ["n/a"; 5]);
        }
    }

    #[test]
    fn signs_are_true() {
        assert_eq!(change(0.1234), "+12.34\u{a0}%");
        assert_eq!(change(-0.1234), "\u{2212}12.34\u{a0}%");
        assert_eq!(change(0.000_001), "0.00\u{a0}%");
        assert_eq!(change(-0.000_001), "0.00\u{a0}%");
        assert_eq!(percent(12.34), "1234\u{a0}%");
        assert_eq!(change(4792.93), "+479k\u{a0}%");
        assert_eq!(change(-32_433.7), "\u{2212}3.24M\u{a0}%");
        assert_eq!(
            [portion(0.462), portion(0.0421), portion(0.0)],
            ["46\u{a0}%", "4.2\u{a0}%", "0\u{a0}%"]
        );
        assert_eq!(scientific(0.0), "0");
        assert_eq!(scientific(3.2e-16), "3e\u{2212}16");
    }

    #[test]
    fn counts_are_grouped() {
        for (count, shown) in [(0, "0"), (999, "999"), (1000, "1,000"), (163_749, "163,749")] {
            assert_eq!(grouped(count), shown);
        }
    }
}
