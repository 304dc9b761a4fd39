//! Which real bars strategies run on: the keys `real` of an experiment.

use crate::error::StrategyError;
use ktd_env::TradeDate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// How to write the keys.
pub(super) const HINT: &str = "write real = { panel = \"csi300.ktdp\", symbols = [\"SH600519\"] }; docs/strategy-code.md shows all keys";
/// Assets of a basket, which are those of its document.
pub(super) const BASKET: usize = 4;

/// Names of a panel: by a word, or one by one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum SeriesChoice<T> {
    /// A word.
    Word(String),
    /// These.
    List(Vec<T>),
}

impl<T> SeriesChoice<T> {
    fn is_word(&self, words: &[&str]) -> bool {
        match self {
            Self::Word(word) => words.contains(&word.as_str()),
            Self::List(_) => true,
        }
    }
}

/// Days of a split, from the first to before the second, such as `["2025-01-01", "2026-01-01"]`.
pub type SplitDays = [String; 2];

/// Real bars that strategies run on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RealBars {
    /// A panel of daily bars, relative to the file.
    pub panel: Option<PathBuf>,
    /// Daily bars of any market in one table, instead of a panel.
    pub bars: Option<PathBuf>,
    /// A file of minute bars, for the documents within a day.
    pub minutes: Option<PathBuf>,
    /// The stamp of a session's last bar (default `15:00`).
    pub session_end: String,
    /// `members` (default: those of the index on a split's first day), `all`, or a list.
    pub symbols: SeriesChoice<String>,
    /// `neighbours` (default: each of the symbols with the next by code), or a list.
    pub pairs: SeriesChoice<[String; 2]>,
    /// `neighbours` (default: each four of the symbols that follow each other by code), or a list.
    pub baskets: SeriesChoice<[String; BASKET]>,
    /// Days that a model may be shown figures of.
    pub train: SplitDays,
    /// Days that figures are reported of.
    pub test: SplitDays,
}

impl Default for RealBars {
    fn default() -> Self {
        let word = |word: &str| word.to_owned();
        Self {
            panel: None,
            bars: None,
            minutes: None,
            session_end: word("15:00"),
            symbols: SeriesChoice::Word(word("members")),
            pairs: SeriesChoice::Word(word("neighbours")),
            baskets: SeriesChoice::Word(word("neighbours")),
            train: ["2024-01-01", "2025-01-01"].map(word),
            test: ["2025-01-01", "2026-01-01"].map(word),
        }
    }
}

/// A split with its days read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SplitSpan {
    /// `train` or `test`.
    pub(super) name: &'static str,
    /// The first day.
    pub(super) start: TradeDate,
    /// The day after the last.
    pub(super) end: TradeDate,
}

impl RealBars {
    /// Whether everything fits.
    ///
    /// # Errors
    /// [`StrategyError`] naming the key.
    pub fn check(&self) -> Result<(), StrategyError> {
        let wrong = |what: String| Err(StrategyError::input(what, HINT));
        match (&self.panel, &self.bars) {
            (Some(_), Some(_)) => return wrong("`panel` and `bars` are both given; remove one".to_owned()),
            (None, None) if self.minutes.is_none() => {
                return wrong("`panel`, `bars` or `minutes` is missing".to_owned());
            }
            _ => {}
        }
        for (key, is_known, words) in [
            (
                "symbols",
                self.symbols.is_word(&["members", "all"]),
                "members, all",
            ),
            ("pairs", self.pairs.is_word(&["neighbours"]), "neighbours"),
            ("baskets", self.baskets.is_word(&["neighbours"]), "neighbours"),
        ] {
            if !is_known {
                return wrong(format!("`{key}` is an unknown word; write {words}, or a list"));
            }
        }
        let lists = [
            ("symbols", lists_of(&self.symbols, |symbol| vec![symbol])),
            ("pairs", lists_of(&self.pairs, |pair| pair.iter().collect())),
            (
                "baskets",
                lists_of(&self.baskets, |basket| basket.iter().collect()),
            ),
        ];
        for (key, series) in lists {
            let Some(series) = series else { continue };
            if series.is_empty() {
                return wrong(format!("`{key}` is empty; name one, or remove the key"));
            }
            let all: BTreeSet<&Vec<&String>> = series.iter().collect();
            let has_twice =
                |series: &Vec<&String>| series.iter().collect::<BTreeSet<_>>().len() < series.len();
            if all.len() < series.len() || series.iter().any(has_twice) {
                return wrong(format!("`{key}` names a symbol or a series twice; remove one"));
            }
        }
        let is_clock = matches!(
            self.session_end.as_bytes(),
            [b'0'..=b'2', b'0'..=b'9', b':', b'0'..=b'5', b'0'..=b'9']
        );
        if !is_clock {
            return wrong(format!("`session_end` is {:?}; write 15:00", self.session_end));
        }
        self.splits().map(drop)
    }

    /// Train and test.
    ///
    /// # Errors
    /// [`StrategyError`] for a day that is no date, a split without a day, and a test that begins before the train ends.
    pub(super) fn splits(&self) -> Result<[SplitSpan; 2], StrategyError> {
        let train = span("train", &self.train)?;
        let test = span("test", &self.test)?;
        if test.start < train.end {
            return Err(StrategyError::input(
                "`test` begins before `train` ends",
                "write splits that do not overlap, train first",
            ));
        }
        Ok([train, test])
    }
}

/// The series of a list, each as its symbols.
fn lists_of<T>(choice: &SeriesChoice<T>, symbols: fn(&T) -> Vec<&String>) -> Option<Vec<Vec<&String>>> {
    match choice {
        SeriesChoice::Word(_) => None,
        SeriesChoice::List(list) => Some(list.iter().map(symbols).collect()),
    }
}

fn span(name: &'static str, [start, end]: &SplitDays) -> Result<SplitSpan, StrategyError> {
    let day = |text: &str| {
        TradeDate::parse(text).map_err(|error| StrategyError::input(format_args!("`{name}`: {error}"), HINT))
    };
    let (start, end) = (day(start)?, day(end)?);
    if end <= start {
        return Err(StrategyError::input(
            format_args!("`{name}` has no day: its end does not lie after its start"),
            "write the first day and the day after the last, such as [\"2025-01-01\", \"2026-01-01\"]",
        ));
    }
    Ok(SplitSpan { name, start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_say_what_is_wrong_with_them() {
        let read = |keys: &str| -> String {
            match toml::from_str::<RealBars>(keys) {
                Ok(read) => read
                    .check()
                    .map_or_else(|error| error.to_string(), |()| String::new()),
                Err(error) => error.to_string(),
            }
        };
        assert_eq!(read("panel = \"p.ktdp\""), "");
        let pair = "panel = \"p\"\npairs = [[\"A\", \"B\"], [\"B\", \"A\"]]";
        assert_eq!(read(pair), "", "the legs of a pair have an order");
        for (keys, part) in [
            ("", "`panel`, `bars` or `minutes` is missing"),
            ("panel = \"p\"\nbars = \"b\"", "both given"),
            (
                "panel = \"p\"\nsymbols = \"some\"",
                "`symbols` is an unknown word",
            ),
            ("panel = \"p\"\nsymbols = []", "`symbols` is empty"),
            (
                "panel = \"p\"\nsymbols = [\"A\", \"A\"]",
                "`symbols` names a symbol or a series twice",
            ),
            (
                "panel = \"p\"\npairs = [[\"A\", \"A\"]]",
                "`pairs` names a symbol or a series twice",
            ),
            ("panel = \"p\"\npairs = [[\"A\"]]", "pairs"),
            ("panel = \"p\"\nbaskets = \"all\"", "`baskets` is an unknown word"),
            (
                "panel = \"p\"\nsession_end = \"3 pm\"",
                "`session_end` is \"3 pm\"",
            ),
            (
                "panel = \"p\"\ntest = [\"2025-01-01\", \"2025-01-01\"]",
                "`test` has no day",
            ),
            (
                "panel = \"p\"\ntest = [\"soon\", \"2026-01-01\"]",
                "`test`: \"soon\" is not a date",
            ),
            (
                "panel = \"p\"\ntest = [\"2024-06-01\", \"2026-01-01\"]",
                "begins before `train` ends",
            ),
            ("panel = \"p\"\nfolds = 2", "unknown field `folds`"),
        ] {
            let error = read(keys);
            assert!(error.contains(part), "{keys}: {error}");
        }
    }
}
