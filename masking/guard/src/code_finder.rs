//! Codes of stocks: with the letters of their exchange, or six digits that the panel has.

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

/// Finder of codes in folded texts.
#[derive(Debug)]
pub struct CodeFinder {
    pattern: Regex,
    /// The digits of the panel's codes.
    known: BTreeSet<String>,
}

impl CodeFinder {
    /// A finder of codes; six digits alone are one when `market` has them.
    ///
    /// # Errors
    /// [`PatternError`] when the pattern is invalid.
    #[expect(clippy::disallowed_methods, reason = "codes must be known to be found")]
    pub fn new(market: Option<&Market>) -> Result<Self, PatternError> {
        let pattern = Regex::new(
            r"(?i)(?:(?<before>sh|sz|bj)[.: ]?)?(?<digits>[0-9]{6})(?:\.(?<after>sh|ss|sz|bj|xshg|xshe))?",
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
                None => {
                    self.known.contains(digits) && !is_part_of_number(before, after) && !is_counted(after)
                }
            };
            (is_code && text.is_whole(&part)).then(|| FoundCode {
                part,
                digits: digits.to_owned(),
            })
        })
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
        "sh" | "ss" | "xshg" => Some("SH"),
        "sz" | "xshe" => Some("SZ"),
        _ => Some("BJ"),
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
        ] {
            assert_eq!(found(&codes, text), [expected], "{text}");
        }
        for text in [
            "600519",
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
