//! The last look at every request before it leaves: hidden codes, company names and dates stop the episode.
//!
//! Types already keep them out; this is the second assertion of the same rule, on the final bytes. The model's own
//! earlier words are not the harness's to judge: a model that guesses a code aloud leaks nothing to itself.

use aho_corasick::{AhoCorasick, MatchKind};
use ktd_env::{Market, TradeDate};
use ktd_masking::Level;
use serde_json::Value;
use std::collections::BTreeSet;

/// What the guard of one episode looks for.
#[derive(Debug)]
pub struct Guard {
    codes: BTreeSet<String>,
    names: Option<AhoCorasick>,
    /// Hidden dates lie within these, as (year, month, day).
    dates: Option<(Day, Day)>,
}

type Day = (u32, u32, u32);

/// A hidden thing in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `code`, `company name` or `date`.
    pub kind: &'static str,
    /// JSON pointer into the request.
    pub pointer: String,
}

/// Keys whose values are the provider's or the model's own, or the experiment's choice of model.
const FOREIGN_KEYS: [&str; 4] = ["model", "id", "tool_call_id", "call_id"];

/// Keys under which even a bare number could only be an identifier.
const IDENTIFIER_KEYS: [&str; 9] = [
    "stock_id", "symbol", "ticker", "code", "name", "date", "day", "as_of", "time",
];

impl Guard {
    /// The guard of a mask level on a panel; it looks for nothing that the level shows.
    #[must_use]
    pub fn new(level: Level, market: &Market) -> Self {
        let mut guard = Self {
            codes: BTreeSet::new(),
            names: None,
            dates: None,
        };
        if level.hides_stocks() {
            let mut names = BTreeSet::new();
            for (_, info) in market.names() {
                guard.codes.insert(info.ticker.reveal().chars().skip(2).collect());
                names.extend(
                    info.company_names
                        .iter()
                        .flat_map(|name| spellings(name))
                        .filter(|name| is_telling(name)),
                );
            }
            guard.names = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&names)
                .ok();
        }
        if level.hides_days() {
            let edge = |date: Option<&TradeDate>| date.and_then(|date| parse_day(&date.reveal()));
            guard.dates = edge(market.calendar().first()).zip(edge(market.calendar().last()));
        }
        guard
    }

    /// Looks through the final bytes of a request.
    ///
    /// # Errors
    /// The first [`Finding`].
    pub fn scan(&self, body: &[u8]) -> Result<(), Finding> {
        let found = serde_json::from_slice::<Value>(body).map_or_else(
            |_| {
                self.in_text(&String::from_utf8_lossy(body)).map(|kind| Finding {
                    kind,
                    pointer: String::new(),
                })
            },
            |value| self.in_value(&value, "", None),
        );
        found.map_or(Ok(()), Err)
    }

    fn in_value(&self, value: &Value, pointer: &str, key: Option<&str>) -> Option<Finding> {
        let finding = |kind| Finding {
            kind,
            pointer: pointer.to_owned(),
        };
        match value {
            Value::Object(object) if is_own_words(object) => None,
            Value::Object(object) => object.iter().find_map(|(key, value)| {
                if FOREIGN_KEYS.contains(&key.as_str()) {
                    return None;
                }
                let inner = format!("{pointer}/{key}");
                let in_key = self.in_text(key).map(|kind| Finding {
                    kind,
                    pointer: inner.clone(),
                });
                in_key.or_else(|| self.in_value(value, &inner, Some(key)))
            }),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .find_map(|(place, item)| self.in_value(item, &format!("{pointer}/{place}"), key)),
            Value::String(text) => self.in_string(text, pointer),
            // Honest numbers are volumes, prices and weights; only an identifier's number is read as text.
            Value::Number(number) if key.is_some_and(|key| IDENTIFIER_KEYS.contains(&key)) => {
                self.in_text(&number.to_string()).map(finding)
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => None,
        }
    }

    /// Text may carry JSON (tool answers, the state of a step): numbers in it are numbers, all else is text.
    fn in_string(&self, text: &str, pointer: &str) -> Option<Finding> {
        let finding = |kind| Finding {
            kind,
            pointer: pointer.to_owned(),
        };
        let mut plain = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(['{', '[']) {
            let (before, candidate) = rest.split_at(start);
            plain.push_str(before);
            let mut values = serde_json::Deserializer::from_str(candidate).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                let end = values.byte_offset();
                if let Some(found) = self.in_value(&value, pointer, None) {
                    return Some(found);
                }
                plain.push(' ');
                rest = candidate.get(end..).unwrap_or_default();
            } else {
                let mut chars = candidate.chars();
                plain.extend(chars.next());
                rest = chars.as_str();
            }
        }
        plain.push_str(rest);
        self.in_text(&plain).map(finding)
    }

    fn in_text(&self, text: &str) -> Option<&'static str> {
        let folded = fold(text);
        if !self.codes.is_empty() && self.has_code(&folded) {
            return Some("code");
        }
        if self.names.as_ref().is_some_and(|names| has_name(names, &folded)) {
            return Some("company name");
        }
        let (first, last) = self.dates?;
        let is_hidden = |day: Day| {
            // Year and month alone (day 0) are hidden as well.
            (first.0, first.1, 0) <= day && day <= last
        };
        dates_in(&folded).into_iter().any(is_hidden).then_some("date")
    }

    /// A run of exactly six digits that is a hidden code, unless it is part of a decimal or grouped number.
    fn has_code(&self, text: &str) -> bool {
        digit_runs(text).into_iter().any(|run| {
            run.digits.len() == 6
                && self.codes.contains(run.digits)
                && !is_decimal_part(run.before, run.after)
        })
    }
}

/// Whether the object is the model's own earlier turn.
fn is_own_words(object: &serde_json::Map<String, Value>) -> bool {
    object.get("role").and_then(Value::as_str) == Some("assistant")
}

/// Full-width letters and digits as ASCII, everything in lower case: one spelling to compare.
fn fold(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character),
            '\u{3000}' => ' ',
            _ => character,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// A name as lists write it, without the blanks that fill it up, and without the marks of its state and share class.
fn spellings(name: &str) -> [String; 3] {
    const MARKS: [&str; 6] = ["*st", "st", "xd", "xr", "dr", "s*st"];
    let listed = fold(name);
    let dense: String = listed
        .chars()
        .filter(|character| !character.is_whitespace() && !character.is_control())
        .collect();
    let unmarked = MARKS
        .iter()
        .find_map(|mark| dense.strip_prefix(mark))
        .filter(|rest| rest.chars().next().is_some_and(is_wide))
        .unwrap_or(&dense);
    // Only wide names bear marks and class letters: an English name may well begin or end with these letters.
    let bare = unmarked
        .strip_suffix('a')
        .filter(|bare| bare.chars().all(is_wide))
        .unwrap_or(unmarked)
        .to_owned();
    [listed, dense, bare]
}

const fn is_wide(character: char) -> bool {
    !character.is_ascii()
}

/// Names so short that honest text contains them by chance are left to the types.
fn is_telling(name: &str) -> bool {
    let wide = name.chars().filter(|character| is_wide(*character)).count();
    wide >= 2 || name.chars().filter(char::is_ascii_alphabetic).count() >= 5
}

/// A name counts when it is not the inside of a longer ASCII word.
fn has_name(names: &AhoCorasick, text: &str) -> bool {
    names.find_iter(text).any(|found| {
        let before = text
            .get(..found.start())
            .and_then(|before| before.chars().next_back());
        let after = text.get(found.end()..).and_then(|after| after.chars().next());
        let word =
            |character: Option<char>| character.is_some_and(|character| character.is_ascii_alphanumeric());
        let first = text.get(found.range()).and_then(|name| name.chars().next());
        let ascii = first.is_some_and(|character| character.is_ascii());
        !ascii || !(word(before) || word(after))
    })
}

struct Run<'a> {
    digits: &'a str,
    before: &'a str,
    after: &'a str,
}

fn digit_runs(text: &str) -> Vec<Run<'_>> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let is_digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let end = (at..bytes.len())
            .find(|place| !is_digit(*place))
            .unwrap_or(bytes.len());
        runs.push(Run {
            digits: text.get(at..end).unwrap_or_default(),
            before: text.get(..at).unwrap_or_default(),
            after: text.get(end..).unwrap_or_default(),
        });
        at = end;
    }
    runs
}

/// Whether digits stand in a decimal (`600519.25`, `0.600519`) or grouped number.
fn is_decimal_part(before: &str, after: &str) -> bool {
    let digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
    let mut after = after.chars();
    let fraction_follows = matches!(after.next(), Some('.' | ',')) && digit(after.next());
    let mut before = before.chars().rev();
    let fraction_of = matches!(before.next(), Some('.' | ',')) && digit(before.next());
    fraction_follows || fraction_of
}

fn parse_day(text: &str) -> Option<Day> {
    let mut parts = text.split('-').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// All dates a text spells: `2024-04-01`, `2024/4/1`, `2024.04.01`, `20240401`, `2024年4月1日`, `1 April 2024`,
/// `April 1, 2024`; and a year with a month alone (day 0): `2024年4月`, `April 2024`.
fn dates_in(text: &str) -> Vec<Day> {
    let runs = digit_runs(text);
    let mut days = Vec::new();
    for run in &runs {
        let number =
            |from: usize, to: usize| run.digits.get(from..to).and_then(|part| part.parse::<u32>().ok());
        if run.digits.len() == 8 && !is_decimal_part(run.before, run.after) {
            days.extend(valid(number(0, 4), number(4, 6), number(6, 8)));
        }
    }
    for window in runs.windows(3) {
        let [year, month, day] = window else { continue };
        let joined = |left: &Run<'_>, right: &Run<'_>| {
            let between = right
                .before
                .get(left.before.len() + left.digits.len()..)
                .unwrap_or_default()
                .trim();
            matches!(between, "-" | "/" | "." | "年" | "月")
        };
        if year.digits.len() == 4 && joined(year, month) && joined(month, day) {
            let part = |run: &Run<'_>| (run.digits.len() <= 2).then(|| run.digits.parse().ok()).flatten();
            days.extend(valid(year.digits.parse().ok(), part(month), part(day)));
        }
    }
    for run in &runs {
        days.extend(chinese_month(run));
        days.extend(english_month(run));
    }
    days
}

fn valid(year: Option<u32>, month: Option<u32>, day: Option<u32>) -> Option<Day> {
    let (year, month, day) = (year?, month?, day?);
    ((1980..=2100).contains(&year) && (1..=12).contains(&month) && day <= 31).then_some((year, month, day))
}

/// `2024年4月`.
fn chinese_month(year: &Run<'_>) -> Option<Day> {
    let rest = year.after.strip_prefix('年')?.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).take(2).collect();
    let ends = rest.get(digits.len()..)?.trim_start().starts_with('月');
    if year.digits.len() == 4 && ends {
        valid(year.digits.parse().ok(), digits.parse().ok(), Some(0))
    } else {
        None
    }
}

/// A four-digit year within three words of an English month's name.
fn english_month(year: &Run<'_>) -> Option<Day> {
    const WORDS_BACK: usize = 3;
    if year.digits.len() != 4 {
        return None;
    }
    let words = year
        .before
        .split(|character: char| !character.is_ascii_alphanumeric());
    let month = words
        .rev()
        .filter(|word| !word.is_empty())
        .take(WORDS_BACK)
        .find_map(|word| {
            MONTHS
                .iter()
                .position(|month| word.starts_with(month) && word.len() <= 9 && is_month(word, month))
        })?;
    valid(year.digits.parse().ok(), u32::try_from(month + 1).ok(), Some(0))
}

/// Whether the word is the month's short or long name, not a word that merely begins like it (`march` and `marked`).
fn is_month(word: &str, short: &str) -> bool {
    const LONG: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    word == short || word == "sept" || LONG.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_as_listed_and_as_spoken() {
        let spoken = |name: &str| spellings(name)[2].clone();
        assert_eq!(spoken("\u{4e94} \u{7cae} \u{6db2}"), "\u{4e94}\u{7cae}\u{6db2}");
        assert_eq!(spoken("\u{65b0}\u{6613}\u{76db}\0\0"), "\u{65b0}\u{6613}\u{76db}");
        assert_eq!(spoken("\u{4e07}  \u{79d1}\u{ff21}"), "\u{4e07}\u{79d1}");
        assert_eq!(spoken("*ST\u{56fd}\u{534e}"), "\u{56fd}\u{534e}");
        assert_eq!(spoken("Drought Media"), "droughtmedia");
        assert_eq!(spoken("TCL\u{79d1}\u{6280}"), "tcl\u{79d1}\u{6280}");
        assert_eq!(
            spellings("\u{4e94} \u{7cae} \u{6db2}")[0],
            "\u{4e94} \u{7cae} \u{6db2}"
        );
    }
}
