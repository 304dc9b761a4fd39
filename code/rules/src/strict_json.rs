//! JSON as foreign code writes it: duplicate keys, NaN, infinities, lone surrogates and deep nesting are faults.

use std::collections::BTreeMap;

/// How deep a document may be nested.
const DEPTH_MAX: usize = 8;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StrictValue {
    Null,
    Flag(bool),
    /// A whole number of 64 bits.
    Whole(i64),
    /// A whole number beyond them.
    Large(f64),
    Fraction(f64),
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

impl StrictValue {
    /// A count: a whole number that is not negative; one beyond 64 bits is the largest.
    pub(crate) fn count(&self) -> Option<u64> {
        match self {
            Self::Whole(value) => u64::try_from(*value).ok(),
            Self::Large(value) if 0.0 < *value => Some(u64::MAX),
            Self::Null
            | Self::Flag(_)
            | Self::Large(_)
            | Self::Fraction(_)
            | Self::Text(_)
            | Self::List(_)
            | Self::Map(_) => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        if let Self::List(list) = self {
            Some(list)
        } else {
            None
        }
    }

    /// A map with exactly these keys.
    pub(crate) fn map_of(&self, keys: &[&str]) -> Option<&BTreeMap<String, Self>> {
        let Self::Map(map) = self else { return None };
        let is_exact = map.len() == keys.len() && keys.iter().all(|key| map.contains_key(*key));
        is_exact.then_some(map)
    }
}

/// The value of a text; `None` where it is no such JSON.
pub(crate) fn parse(text: &str) -> Option<StrictValue> {
    let mut reader = Reader { rest: text, depth: 0 };
    let value = reader.value()?;
    reader.space();
    reader.rest.is_empty().then_some(value)
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn value(&mut self) -> Option<StrictValue> {
        self.space();
        match self.rest.chars().next()? {
            'n' => self.take("null").map(|()| StrictValue::Null),
            't' => self.take("true").map(|()| StrictValue::Flag(true)),
            'f' => self.take("false").map(|()| StrictValue::Flag(false)),
            '"' => self.text().map(StrictValue::Text),
            '[' => self.nested(Self::list),
            '{' => self.nested(Self::map),
            _ => self.number(),
        }
    }

    fn nested(&mut self, read: impl Fn(&mut Self) -> Option<StrictValue>) -> Option<StrictValue> {
        self.depth += 1;
        if DEPTH_MAX < self.depth {
            return None;
        }
        let value = read(self)?;
        self.depth -= 1;
        Some(value)
    }

    fn list(&mut self) -> Option<StrictValue> {
        self.take("[")?;
        let mut values = Vec::new();
        self.space();
        if self.take("]").is_some() {
            return Some(StrictValue::List(values));
        }
        loop {
            values.push(self.value()?);
            self.space();
            if self.take("]").is_some() {
                return Some(StrictValue::List(values));
            }
            self.take(",")?;
        }
    }

    fn map(&mut self) -> Option<StrictValue> {
        self.take("{")?;
        let mut values = BTreeMap::new();
        self.space();
        if self.take("}").is_some() {
            return Some(StrictValue::Map(values));
        }
        loop {
            self.space();
            let key = self.text()?;
            self.space();
            self.take(":")?;
            let value = self.value()?;
            if values.insert(key, value).is_some() {
                return None;
            }
            self.space();
            if self.take("}").is_some() {
                return Some(StrictValue::Map(values));
            }
            self.take(",")?;
        }
    }

    fn number(&mut self) -> Option<StrictValue> {
        let end = self
            .rest
            .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
            .unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_whole = is_number(token)?;
        if is_whole && let Ok(value) = token.parse::<i64>() {
            return Some(StrictValue::Whole(value));
        }
        let value: f64 = token.parse().ok()?;
        if !value.is_finite() {
            return None;
        }
        Some(if is_whole {
            StrictValue::Large(value)
        } else {
            StrictValue::Fraction(value)
        })
    }

    fn text(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut text = String::new();
        loop {
            let end = self.rest.find(|c: char| c == '"' || c == '\\' || c < ' ')?;
            let (plain, rest) = self.rest.split_at(end);
            text.push_str(plain);
            self.rest = rest;
            if self.take("\"").is_some() {
                return Some(text);
            }
            self.take("\\")?;
            text.push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let kind = characters.next()?;
        self.rest = characters.as_str();
        Some(match kind {
            '"' | '\\' | '/' => kind,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unit_pair(),
            _ => return None,
        })
    }

    /// A character from one UTF-16 unit or from two.
    fn unit_pair(&mut self) -> Option<char> {
        let first = self.unit()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        self.take("\\u")?;
        let second = self.unit()?;
        if !(0xDC00..0xE000).contains(&second) {
            return None;
        }
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let unit = u32::from_str_radix(digits, 16).ok()?;
        self.rest = self.rest.get(4..)?;
        Some(unit)
    }
}

/// Whether a token that is a number of JSON is written as a whole number; `None` where it is no number.
fn is_number(token: &str) -> Option<bool> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = token.strip_prefix('-').unwrap_or(token);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let is_well_formed = digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    is_well_formed.then_some(fraction.is_none() && exponent.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_whole_large_or_fractions() {
        assert_eq!(parse("-0"), Some(StrictValue::Whole(0)));
        assert_eq!(parse(" 12 "), Some(StrictValue::Whole(12)));
        assert_eq!(
            parse("9223372036854775808"),
            Some(StrictValue::Large(9.223_372_036_854_776e18))
        );
        assert_eq!(parse("1.5e-3"), Some(StrictValue::Fraction(0.0015)));
        for faulty in [
            "NaN",
            "Infinity",
            "-Infinity",
            "1e999",
            "-1e999",
            "01",
            "+1",
            "1.",
            ".5",
            "1e",
            "0x1",
            "--1",
            "",
            "1 2",
        ] {
            assert_eq!(parse(faulty), None, "{faulty}");
        }
    }

    #[test]
    fn a_count_is_a_whole_number_that_is_not_negative() {
        let count = |text: &str| parse(text).and_then(|value| value.count());
        assert_eq!(count("3"), Some(3));
        assert_eq!(count("99999999999999999999999"), Some(u64::MAX));
        for other in [
            "-1",
            "3.0",
            "3e0",
            "true",
            "\"3\"",
            "-99999999999999999999999",
            "null",
            "[3]",
        ] {
            assert_eq!(count(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_not_strict_is_refused() {
        for faulty in [
            "{\"a\":1,\"a\":2}",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\ud800\\u0041\"",
            "\"\u{1}\"",
            "\"open",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "[[[[[[[[[1]]]]]]]]]",
            "\u{feff}{}",
            "null null",
            "\"\\u+123\"",
            "\"\\x\"",
        ] {
            assert_eq!(parse(faulty), None, "{faulty}");
        }
        assert_eq!(
            parse("\"\\ud83d\\ude00\\n\""),
            Some(StrictValue::Text("\u{1f600}\n".to_owned()))
        );
        assert!(parse("[[[[[[[[1]]]]]]]]").is_some());
    }

    proptest! {
        /// Another reader of JSON agrees on what is JSON and on its texts.
        #[test]
        fn agrees_with_another_reader(text in "[\\[\\]{}:,\"\\\\a0-9.eEu+ -]{0,24}") {
            let other: Result<serde_json::Value, _> = serde_json::from_str(&text);
            if let Some(value) = parse(&text) {
                prop_assert!(other.is_ok(), "{text}");
                if let (StrictValue::Text(ours), Ok(serde_json::Value::String(theirs))) = (value, other) {
                    prop_assert_eq!(ours, theirs);
                }
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_fault_of_ours(text in ".{0,64}") {
            let _value = parse(&text);
        }
    }
}
