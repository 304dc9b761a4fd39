//! The last look at every request before it leaves: hidden codes, company names and dates stop the episode.
//!
//! Types already keep them out; this is the second assertion of the same rule, on the final bytes. The model's own
//! earlier words are not the harness's to judge: a model that guesses a code aloud leaks nothing to itself.

use crate::carried_json::{TextScan, scan_carried};
use crate::company_name::{closed_up, fold, has_name, is_telling, spellings};
use crate::dates::{Day, dates_in, parse_day};
use crate::digits::{Run, digit_runs};
use crate::pointer::Pointer;
use aho_corasick::AhoCorasick;
use ktd_env::{Market, TradeDate};
use ktd_masking::Level;
use serde_json::{Number, Value};
use std::collections::BTreeSet;
use std::sync::{OnceLock, RwLock};

/// What the guard of one episode looks for.
#[derive(Debug)]
pub struct Guard {
    codes: BTreeSet<String>,
    names: Option<AhoCorasick>,
    /// The same names, looked for one by one, should they be too many for an automaton.
    plain_names: BTreeSet<String>,
    /// Hidden dates lie within these, as (year, month, day).
    dates: Option<(Day, Day)>,
    /// A day that is given away on purpose.
    given_day: Option<Day>,
    /// Long texts that were found clean: standing instructions come with every request.
    clean: RwLock<BTreeSet<String>>,
    /// Declarations of tools that were found clean: they come with every request too.
    clean_tools: RwLock<Vec<Value>>,
}

/// From this length on, a clean text is remembered.
const LONG_TEXT_BYTES: usize = 1_024;
/// So many are: a few prompts a mode.
const CLEAN_TEXTS_MAX: usize = 64;
/// Two lists of tools a mode, with room for other wires.
const CLEAN_TOOLS_MAX: usize = 16;

/// A look at the final bytes of a request before it leaves.
pub trait RequestScan: Sync {
    /// Scans a body; `value` is the same where it is JSON.
    ///
    /// # Errors
    /// The first [`Finding`]: the request must not be sent.
    fn scan(&self, body: &[u8], value: Option<&Value>) -> Result<(), Finding>;
}

impl RequestScan for Guard {
    fn scan(&self, body: &[u8], value: Option<&Value>) -> Result<(), Finding> {
        self.scan_read(body, value)
    }
}

/// The guards of a panel, each made when a level is first met: they are large, and many episodes run at once.
#[derive(Debug, Default)]
pub struct Guards([OnceLock<Guard>; 4]);

impl Guards {
    /// The guard of a level. All calls must name the same panel.
    #[must_use]
    pub fn of(&self, level: Level, market: &Market) -> &Guard {
        let [bright, stock_blind, date_blind, blinded] = &self.0;
        let guard = match level {
            Level::Bright => bright,
            Level::StockBlind => stock_blind,
            Level::DateBlind => date_blind,
            Level::Blinded => blinded,
        };
        guard.get_or_init(|| Guard::new(level, market))
    }
}

/// A hidden thing in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `code`, `company name` or `date`.
    pub kind: &'static str,
    /// JSON pointer into the request.
    pub pointer: String,
}

/// Where a value stands: in the request itself, or in JSON that a text of it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Wire,
    Text,
}

/// Keys of the request whose values are the provider's or the model's own, or the experiment's choice of model.
const FOREIGN_KEYS: [&str; 5] = ["model", "id", "tool_call_id", "tool_use_id", "call_id"];

/// Keys under which even a bare number could only be an identifier.
const IDENTIFIER_KEYS: [&str; 9] = [
    "stock_id", "symbol", "ticker", "code", "name", "date", "day", "as_of", "time",
];

impl Guard {
    /// The guard of a mask level on a panel; it looks for nothing that the level shows.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "what is hidden must be known to be found"
    )]
    pub fn new(level: Level, market: &Market) -> Self {
        let mut guard = Self {
            codes: BTreeSet::new(),
            names: None,
            plain_names: BTreeSet::new(),
            dates: None,
            given_day: None,
            clean: RwLock::default(),
            clean_tools: RwLock::default(),
        };
        if level.hides_stocks() {
            let mut names = BTreeSet::new();
            for (_, info) in market.names() {
                guard.codes.insert(info.ticker.reveal().chars().skip(2).collect());
                names.extend(
                    info.company_names
                        .iter()
                        .flat_map(|name| spellings(name))
                        .map(|name| closed_up(&name).into_owned())
                        .filter(|name| is_telling(name)),
                );
            }
            guard.names = AhoCorasick::new(&names).ok();
            if guard.names.is_none() {
                guard.plain_names = names;
            }
        }
        if level.hides_days() {
            let edge = |date: Option<&TradeDate>| date.and_then(|date| parse_day(&date.reveal()));
            guard.dates = edge(market.calendar().first()).zip(edge(market.calendar().last()));
        }
        guard
    }

    /// The same guard for a request that gives one code away on purpose: that code alone passes. The code is in the
    /// form `SH600519`.
    #[must_use]
    pub fn but(&self, code: &str) -> Self {
        let mut own = self.copy();
        let digits: String = code.chars().skip(2).collect();
        own.codes.remove(&digits);
        own
    }

    /// The same guard for a request that gives one day away on purpose, in the form `2024-01-02`: that day alone passes.
    #[must_use]
    pub fn but_day(&self, day: &str) -> Self {
        Self {
            given_day: parse_day(day),
            ..self.copy()
        }
    }

    /// The same guard, which has found no text clean yet.
    fn copy(&self) -> Self {
        Self {
            codes: self.codes.clone(),
            names: self.names.clone(),
            plain_names: self.plain_names.clone(),
            dates: self.dates,
            given_day: self.given_day,
            clean: RwLock::default(),
            clean_tools: RwLock::default(),
        }
    }

    /// Looks through the final bytes of a request.
    ///
    /// # Errors
    /// The first [`Finding`].
    pub fn scan(&self, body: &[u8]) -> Result<(), Finding> {
        self.scan_read(body, serde_json::from_slice(body).ok().as_ref())
    }

    /// The same for a body that has been read before, where it is JSON.
    ///
    /// # Errors
    /// The first [`Finding`].
    pub fn scan_read(&self, body: &[u8], value: Option<&Value>) -> Result<(), Finding> {
        let found = value.map_or_else(
            || {
                self.in_text(&String::from_utf8_lossy(body)).map(|kind| Finding {
                    kind,
                    pointer: String::new(),
                })
            },
            |value| self.in_value(value, Pointer::Root, None, Depth::Wire),
        );
        found.map_or(Ok(()), Err)
    }

    fn in_value(
        &self,
        value: &Value,
        pointer: Pointer<'_>,
        key: Option<&str>,
        depth: Depth,
    ) -> Option<Finding> {
        match value {
            Value::Object(object) if depth == Depth::Wire && is_own_words(object, pointer) => None,
            Value::Object(object) => object.iter().find_map(|(key, value)| {
                if depth == Depth::Wire && value.is_string() && FOREIGN_KEYS.contains(&key.as_str()) {
                    return None;
                }
                let inner = Pointer::Key(&pointer, key);
                self.in_text(key)
                    .map(|kind| at(inner, kind))
                    .or_else(|| self.in_member(value, inner, key, depth))
            }),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .find_map(|(place, item)| self.in_value(item, Pointer::Place(&pointer, place), key, depth)),
            Value::String(text) => self.in_string(text, pointer),
            Value::Number(number) => self.number(number, pointer, key),
            Value::Bool(_) | Value::Null => None,
        }
    }

    fn in_member(&self, value: &Value, pointer: Pointer<'_>, key: &str, depth: Depth) -> Option<Finding> {
        match pointer {
            Pointer::Key(Pointer::Root, "tools") if depth == Depth::Wire => self.in_tools(value, pointer),
            // A tool's answer that is an object on the wire is the harness's text all the same.
            Pointer::Key(Pointer::Key(_, "functionResponse"), "response") => {
                self.in_value(value, pointer, Some(key), Depth::Text)
            }
            Pointer::Root | Pointer::Key(..) | Pointer::Place(..) => {
                self.in_value(value, pointer, Some(key), depth)
            }
        }
    }

    /// The declarations of tools, which are found clean once: whether they are hangs on them and on the guard alone.
    fn in_tools(&self, tools: &Value, pointer: Pointer<'_>) -> Option<Finding> {
        if self.clean_tools.read().is_ok_and(|clean| clean.contains(tools)) {
            return None;
        }
        let found = self.in_value(tools, pointer, Some("tools"), Depth::Wire);
        if let (None, Ok(mut clean)) = (&found, self.clean_tools.write())
            && clean.len() < CLEAN_TOOLS_MAX
        {
            clean.push(tools.clone());
        }
        found
    }

    /// Text may carry JSON (tool answers, the state of a step): numbers in it are numbers, all else is text.
    fn in_string(&self, text: &str, pointer: Pointer<'_>) -> Option<Finding> {
        if text.len() < LONG_TEXT_BYTES {
            return self.in_fresh_string(text, pointer);
        }
        if self.clean.read().is_ok_and(|clean| clean.contains(text)) {
            return None;
        }
        let found = self.in_fresh_string(text, pointer);
        if let (None, Ok(mut clean)) = (&found, self.clean.write())
            && clean.len() < CLEAN_TEXTS_MAX
        {
            clean.insert(text.to_owned());
        }
        found
    }

    fn in_fresh_string(&self, text: &str, pointer: Pointer<'_>) -> Option<Finding> {
        let mut plain = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(['{', '[']) {
            let (before, candidate) = rest.split_at(start);
            plain.push_str(before);
            if let Some((end, found)) = scan_carried(self, candidate, pointer) {
                if found.is_some() {
                    return found;
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
        self.in_text(&plain).map(|kind| at(pointer, kind))
    }

    fn in_text(&self, text: &str) -> Option<&'static str> {
        // Without a digit there is neither code nor date; a panel without names then has nothing to hide.
        let may_tell = !text.is_ascii() || text.bytes().any(|byte| byte.is_ascii_digit());
        if !may_tell && self.names.is_none() && self.plain_names.is_empty() {
            return None;
        }
        let folded = fold(text);
        let runs = digit_runs(&folded);
        if self.has_code(&runs) {
            return Some("code");
        }
        let closed = closed_up(&folded);
        if self.names.as_ref().is_some_and(|names| has_name(names, &closed))
            || self.plain_names.iter().any(|name| closed.contains(name.as_str()))
        {
            return Some("company name");
        }
        let (first, last) = self.dates?;
        let is_hidden = |day: Day| {
            // Year and month alone (day 0) are hidden as well.
            let is_given = self
                .given_day
                .is_some_and(|given| day == given || day == (given.0, given.1, 0));
            (first.0, first.1, 0) <= day && day <= last && !is_given
        };
        dates_in(&runs).into_iter().any(is_hidden).then_some("date")
    }

    /// A run of exactly six digits that is a hidden code, unless it is part of a decimal number; the exchange's
    /// letters before it settle that it is none.
    fn has_code(&self, runs: &[Run<'_>]) -> bool {
        runs.iter().any(|run| {
            run.digits.len() == 6
                && self.codes.contains(run.digits)
                && (EXCHANGES.iter().any(|letters| run.before.ends_with(letters)) || !run.is_decimal_part())
        })
    }
}

impl TextScan for Guard {
    type Found = Finding;

    fn key(&self, key: &str, pointer: Pointer<'_>) -> Option<Finding> {
        self.in_text(key).map(|kind| at(pointer, kind))
    }

    fn text(&self, text: &str, pointer: Pointer<'_>) -> Option<Finding> {
        self.in_string(text, pointer)
    }

    /// Honest numbers are volumes, prices and weights; only an identifier's number is read as text.
    fn number(&self, number: &Number, pointer: Pointer<'_>, key: Option<&str>) -> Option<Finding> {
        if !key.is_some_and(|key| IDENTIFIER_KEYS.contains(&key)) {
            return None;
        }
        self.in_text(&number.to_string()).map(|kind| at(pointer, kind))
    }
}

fn at(pointer: Pointer<'_>, kind: &'static str) -> Finding {
    Finding {
        kind,
        pointer: pointer.to_string(),
    }
}

/// The exchanges' letters before a code, folded.
const EXCHANGES: [&str; 3] = ["sh", "sz", "bj"];

/// Whether the object is the model's own earlier turn: an entry of the conversation that only the model can have made.
fn is_own_words(object: &serde_json::Map<String, Value>, pointer: Pointer<'_>) -> bool {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let (Pointer::Key(list, _) | Pointer::Place(list, _)) = pointer else {
        return false;
    };
    match list {
        Pointer::Key(Pointer::Root, "messages") => text("role") == "assistant",
        Pointer::Key(Pointer::Root, "input") => {
            text("role") == "assistant" || matches!(text("type"), "function_call" | "reasoning")
        }
        Pointer::Key(Pointer::Root, "contents") => text("role") == "model",
        Pointer::Root | Pointer::Key(..) | Pointer::Place(..) => false,
    }
}

#[cfg(test)]
mod tests;
