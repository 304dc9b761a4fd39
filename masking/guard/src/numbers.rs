//! Whether digits are a name or a date, or count something.

/// What counts: a number before one of these is a size.
const UNITS: &[&str] = &[
    "%",
    "shares",
    "share",
    "lots",
    "lot",
    "points",
    "point",
    "pts",
    "bps",
    "bp",
    "basis",
    "yuan",
    "cny",
    "rmb",
    "million",
    "billion",
    "thousand",
    "names",
    "stocks",
    "days",
    "day",
    "bars",
    "trades",
    "steps",
    "units",
    "unit",
    "rows",
    "tokens",
    "positions",
    "orders",
    "sessions",
    "in cash",
    "of cash",
    "in value",
    "股",
    "手",
    "元",
    "点",
    "万",
    "亿",
    "只",
    "笔",
    "个",
    "份",
];

/// Whether what follows digits says that they count something.
pub(crate) fn is_counted(after: &str) -> bool {
    let after = after.trim_start();
    UNITS.iter().any(|unit| {
        after
            .get(..unit.len())
            .filter(|head| head.eq_ignore_ascii_case(unit))
            .and_then(|_| after.get(unit.len()..))
            .is_some_and(|rest| {
                !(unit.is_ascii() && rest.starts_with(|next: char| next.is_ascii_alphabetic()))
            })
    })
}

/// Whether digits go on before or after a point, a comma, a bar or a sign.
pub(crate) fn is_part_of_number(before: &str, after: &str) -> bool {
    let is_joint = |character: char| matches!(character, '.' | ',' | '/' | '-' | ':' | '+');
    let is_digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
    let mut left = before.chars().rev();
    let mut right = after.chars();
    (left.next().is_some_and(is_joint) && is_digit(left.next()))
        || (right.next().is_some_and(is_joint) && is_digit(right.next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_make_a_size() {
        for (after, expected) in [
            (" shares", true),
            ("%", true),
            (" Lots.", true),
            ("股", true),
            (" sharesque", false),
            (" crash", false),
            ("", false),
            (" 点位", true),
        ] {
            assert_eq!(is_counted(after), expected, "{after}");
        }
    }

    #[test]
    fn digits_go_on() {
        assert!(is_part_of_number("1.", "") && is_part_of_number("", ",000"));
        assert!(!is_part_of_number("x.", ". And") && !is_part_of_number("", ""));
    }
}
