//! Codes of stocks: with the letters of their exchange, or six digits that the panel has or a board gives out.

use crate::folded::Folded;
use crate::numbers::{is_counted, is_part_of_number};
use crate::pattern_error::PatternError;
use ktd_env::{Market, Ticker};
use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::ops::Range;

/// A code in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCode {
    /// Bytes of the folded text.
    pub part: Range<usize>,
    /// Its six digits.
    pub digits: String,
}

/// What stands right before six digits that are a code, whatever else is near.
const CODE_WORDS: &[&str] = &["code", "ticker", "symbol", "stock", "代码", "股票", "个股"];
/// What stands before six digits of one clause that are a size.
const SIZE_WORDS: &[&str] = &[
    "volume", "turnover", "amount", "cash", "nav", "shares", "value", "balance", "worth", "total", "about",
    "around", "nearly", "roughly", "seed", "id", "cny", "rmb", "yuan", "equity",
];
const CHINESE_SIZE_WORDS: &[&str] = &[
    "成交量",
    "成交额",
    "量能",
    "金额",
    "资金",
    "市值",
    "现金",
    "净值",
    "余额",
    "总额",
    "合计",
    "资产",
];
/// The first three digits that exchanges give to A-shares.
const BOARD_PREFIXES: &[&str] = &[
    "000", "001", "002", "003", "300", "301", "302", "430", "600", "601", "603", "605", "688", "689", "830",
    "831", "832", "833", "870", "920",
];

/// Finder of codes in folded texts.
#[derive(Debug)]
pub struct CodeFinder {
    pattern: Regex,
    /// The digits of the panel's codes.
    known: BTreeSet<String>,
}

impl CodeFinder {
    /// A finder of codes; six digits alone are one when `market` has them, or where they look like a code and no size.
    ///
    /// # Errors
    /// [`PatternError`] when the pattern is invalid.
    #[expect(clippy::disallowed_methods, reason = "codes must be known to be found")]
    pub fn new(market: Option<&Market>) -> Result<Self, PatternError> {
        let pattern = Regex::new(
            r"(?i)(?:(?<before>xshg|xshe|shse|szse|sse|bse|sha|she|sh|sz|bj)[.:_ -]?)?(?<digits>[0-9]{6})(?:[.:_ -]?(?<after>xshg|xshe|shse|szse|sse|sha|she|sh|ss|sz|bj|ch))?",
        )
        .map_err(|source| PatternError {
            what: "codes",
            source,
        })?;
        let names = market.into_iter().flat_map(Market::names);
        let known = names
            .filter_map(|(_, info)| info.ticker.reveal().get(2..).map(str::to_owned))
            .collect();
        Ok(Self { pattern, known })
    }

    /// Every code.
    pub fn find<'s>(&'s self, text: &'s Folded) -> impl Iterator<Item = FoundCode> + 's {
        self.pattern.captures_iter(text.plain()).filter_map(|groups| {
            let part = groups.get(0)?.range();
            let digits = groups.name("digits")?.as_str();
            let (before, _, after) = text.around(&part);
            let is_code = match exchange(&groups) {
                Some(letters) => Ticker::parse(&format!("{letters}{digits}")).is_ok(),
                None => self.is_bare_code(digits, before, after),
            };
            (is_code && text.is_whole(&part)).then(|| FoundCode {
                part,
                digits: digits.to_owned(),
            })
        })
    }

    /// Whether six digits without an exchange are a code: one that the panel has, or one of a board's that is no round number,
    /// and with nothing around it that makes a size of it.
    fn is_bare_code(&self, digits: &str, before: &str, after: &str) -> bool {
        if is_part_of_number(before, after)
            || is_counted(after)
            || before.ends_with(['¥', '$', '~', '<', '>', '+'])
        {
            return false;
        }
        let is_of_board = digits
            .get(..3)
            .is_some_and(|prefix| BOARD_PREFIXES.contains(&prefix));
        let clause = before
            .rsplit([',', '.', ';', '，', '。', '；', '、'])
            .next()
            .unwrap_or_default();
        let nearest = clause
            .trim_end_matches(|character: char| !character.is_alphanumeric())
            .to_lowercase();
        let is_named = CODE_WORDS.iter().any(|word| nearest.ends_with(word));
        let mut words = nearest.split(|character: char| !character.is_ascii_alphabetic());
        let is_size = digits.ends_with("000")
            || words.any(|word| SIZE_WORDS.contains(&word))
            || CHINESE_SIZE_WORDS.iter().any(|word| nearest.contains(word));
        (is_of_board || self.known.contains(digits)) && (is_named || !is_size)
    }
}

/// Six digits that are no part of a longer run, letters beside them or not.
pub fn six_digits(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_digit())
        .filter(|digits| digits.len() == 6)
}

fn exchange(groups: &Captures<'_>) -> Option<&'static str> {
    let letters = groups.name("before").or_else(|| groups.name("after"))?;
    match letters.as_str().to_ascii_lowercase().as_str() {
        "sh" | "ss" | "xshg" | "shse" | "sse" | "sha" => Some("SH"),
        "sz" | "xshe" | "szse" | "she" => Some("SZ"),
        "bj" | "bse" => Some("BJ"),
        // Bloomberg's `600519 CH` names no exchange.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    fn found(codes: &CodeFinder, text: &str) -> Vec<String> {
        let folded = Folded::of(text);
        codes
            .find(&folded)
            .map(|code| text[folded.own_bytes(&code.part)].to_owned())
            .collect()
    }

    #[test]
    fn letters_of_an_exchange_make_a_code() {
        let codes = CodeFinder::new(None).unwrap();
        for (text, expected) in [
            ("SH600519 leads", "SH600519"),
            ("买入600519.SH", "600519.SH"),
            ("sz.000001,", "sz.000001"),
            ("ＳＨ６００５１９", "ＳＨ６００５１９"),
            ("600519.ss", "600519.ss"),
            ("600519.XSHG", "600519.XSHG"),
            ("SZSE:000001", "SZSE:000001"),
            ("600519 CH", "600519 CH"),
            ("looks like 600519", "600519"),
            ("代码300750", "300750"),
        ] {
            assert_eq!(found(&codes, text), [expected], "{text}");
        }
        for text in [
            "volume of 600519",
            "volume 600519",
            "600519 shares",
            "成交量600519",
            "cut to 300000",
            "123456",
            "SH000300",
            "XSH600519",
            "SH6005191",
            "asset_600519",
            "0.600519",
        ] {
            assert!(found(&codes, text).is_empty(), "{text}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a real code is what is looked for")]
    fn six_digits_are_a_code_where_the_panel_has_them() {
        let config = SynthConfig {
            seed: 5,
            names: 20,
            days: 330,
        };
        let market = generate(&config).unwrap();
        let codes = CodeFinder::new(Some(&market)).unwrap();
        let digits = market.names().next().unwrap().1.ticker.reveal()[2..].to_owned();
        assert_eq!(
            found(&codes, &format!("buy {digits} now")),
            std::slice::from_ref(&digits)
        );
        for text in [
            format!("{digits} shares"),
            format!("0.{digits}"),
            format!("{digits}.5"),
            format!("1{digits}"),
            "123456".to_owned(),
        ] {
            assert!(found(&codes, &text).is_empty(), "{text}");
        }
    }
}
