//! What a step says besides the shapes that are known: every text that is no label, and every number under a key that no
//! tool has, with the subject of each.

use crate::known_keys::is_known;
use crate::step_text::{STATE, day_label};
use ktd_env::{Board, TradeDate};
use ktd_tools::{SUBMIT_ACTION, Tool};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Subject of a text or a number: what it stands next to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// The target: its own snapshot, row or key.
    Target,
    /// Another stock, by the number of its alias.
    Other(u64),
    /// Nobody in particular.
    Nobody,
}

/// Content of a step that no known shape explains.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct UnknownContent {
    /// Each text once, in order; aliases, labels of days and boards are none.
    pub(crate) texts: Vec<(Subject, String)>,
    /// Numbers under keys that no tool has.
    pub(crate) numbers: Vec<(Subject, f64)>,
}

/// Numbers of a step that are kept: a text of another shape altogether may hold thousands.
const MOST_NUMBERS: usize = 64;

impl UnknownContent {
    /// What a step of the exhibit of this target says.
    pub(crate) fn in_step(step: &Value, target: &str) -> Self {
        let mut walk = Walk::new(target);
        match step.as_array() {
            Some(messages) => messages.iter().for_each(|message| walk.message(message)),
            None => walk.value(step, Place::STRANGE),
        }
        walk.finish()
    }

    /// What an exhibit holds besides its steps, its target and the stock given away.
    pub(crate) fn outside_steps(exhibit: &Value, target: &str) -> Self {
        let mut walk = Walk::new(target);
        for (key, value) in exhibit.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("target" | "steps", _) => {}
                ("given_away", Value::Object(given)) => walk.given_away(given, target),
                ("also_given_away", Value::Array(several)) => {
                    for given in several {
                        if let Value::Object(given) = given {
                            walk.given_away(given, target);
                        } else {
                            walk.value(given, Place::STRANGE);
                        }
                    }
                }
                ("given_day", Value::String(day)) if TradeDate::parse(day).is_ok() => {}
                _ => walk.member((key, value), Place::STRANGE),
            }
        }
        walk.finish()
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.texts.extend(more.texts);
        self.numbers.extend(more.numbers);
    }

    /// The numbers that could be of one of these.
    pub(crate) fn numbers_of(&self, subject: &[Subject]) -> Vec<f64> {
        let own = self.numbers.iter().filter(|(of, _)| subject.contains(of));
        own.map(|(_, number)| *number).collect()
    }
}

/// Where a value stands.
#[derive(Debug, Clone, Copy)]
struct Place<'v> {
    /// The key, column or source above it.
    container: &'v str,
    is_known: bool,
    subject: Subject,
}

impl Place<'_> {
    /// Somewhere that no tool writes to.
    const STRANGE: Self = Self {
        container: "",
        is_known: false,
        subject: Subject::Nobody,
    };
}

struct Walk<'v> {
    names: Names<'v>,
    texts: BTreeSet<(Subject, &'v str)>,
    numbers: Vec<(Subject, f64)>,
}

impl<'v> Walk<'v> {
    const fn new(target: &'v str) -> Self {
        Self {
            names: Names(target),
            texts: BTreeSet::new(),
            numbers: Vec::new(),
        }
    }

    /// What stands beside alias and code of a stock that is given away.
    fn given_away(&mut self, given: &'v Map<String, Value>, target: &str) {
        let is_other = given.get("alias").and_then(Value::as_str) != Some(target);
        for (key, value) in given {
            if !is_other || !["alias", "code"].contains(&key.as_str()) {
                self.member((key, value), Place::STRANGE);
            }
        }
    }

    fn finish(self) -> UnknownContent {
        let texts = self.texts.into_iter();
        UnknownContent {
            texts: texts.map(|(subject, text)| (subject, text.to_owned())).collect(),
            numbers: self.numbers,
        }
    }

    fn message(&mut self, message: &'v Value) {
        let source = message.get("source").and_then(Value::as_str).unwrap_or_default();
        if ![STATE, SUBMIT_ACTION].contains(&source) && Tool::from_name(source).is_none() {
            self.value(message, Place::STRANGE);
            return;
        }
        for (key, value) in message.as_object().into_iter().flatten() {
            let place = Place {
                container: if key == "content" { source } else { "message" },
                is_known: true,
                ..Place::STRANGE
            };
            match key.as_str() {
                "source" => {}
                "content" => self.value(value, place),
                _ => self.member((key, value), place),
            }
        }
    }

    fn value(&mut self, value: &'v Value, place: Place<'v>) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if let Some(number) = number.as_f64().filter(|_| !place.is_known)
                    && self.numbers.len() < MOST_NUMBERS
                {
                    self.numbers.push((place.subject, number));
                }
            }
            Value::String(text) => self.text(text, place.subject),
            Value::Array(items) => {
                let subject = self.names.owner(items).unwrap_or(place.subject);
                for item in items {
                    self.value(item, Place { subject, ..place });
                }
            }
            Value::Object(members) => self.object(members, place),
        }
    }

    fn object(&mut self, members: &'v Map<String, Value>, place: Place<'v>) {
        let subject = self.names.owner(members.values()).unwrap_or(place.subject);
        let columns = members.get("columns").and_then(Value::as_array);
        let rows = members.get("rows").and_then(Value::as_array);
        let is_table = columns.is_some() && rows.is_some();
        if let (Some(columns), Some(rows)) = (columns, rows) {
            self.table(columns, rows, place);
        }
        for (key, value) in members {
            if !is_table || !["columns", "rows"].contains(&key.as_str()) {
                self.member((key, value), Place { subject, ..place });
            }
        }
    }

    fn table(&mut self, columns: &'v [Value], rows: &'v [Value], place: Place<'v>) {
        let named = columns.iter().map(|column| {
            let name = column.as_str().unwrap_or_default();
            (name, place.is_known && is_known(place.container, name))
        });
        let columns: Vec<(&str, bool)> = named.collect();
        for (name, _) in columns.iter().filter(|(_, is_known)| !is_known) {
            self.text(name, place.subject);
        }
        for row in rows {
            let Some(cells) = row.as_array() else {
                self.value(
                    row,
                    Place {
                        is_known: false,
                        ..place
                    },
                );
                continue;
            };
            let subject = self.names.owner(cells).unwrap_or(place.subject);
            for (number, cell) in cells.iter().enumerate() {
                let (container, is_known) = columns.get(number).copied().unwrap_or_default();
                self.value(
                    cell,
                    Place {
                        container,
                        is_known,
                        subject,
                    },
                );
            }
        }
    }

    fn member(&mut self, (key, value): (&'v str, &'v Value), place: Place<'v>) {
        let is_known = place.is_known && is_known(place.container, key);
        if !is_known {
            self.text(key, place.subject);
        }
        self.value(
            value,
            Place {
                container: key,
                is_known,
                subject: self.names.of(key).unwrap_or(place.subject),
            },
        );
    }

    fn text(&mut self, text: &'v str, subject: Subject) {
        let is_board = Board::ALL.iter().any(|board| board.label() == text);
        if !is_board && self.names.of(text).is_none() && day_label(text).is_none() {
            self.texts.insert((subject, text));
        }
    }
}

/// Tells aliases from other texts: they look like the target's own, up to the number.
struct Names<'v>(&'v str);

impl Names<'_> {
    fn of(&self, text: &str) -> Option<Subject> {
        if text == self.0 {
            return Some(Subject::Target);
        }
        number(self.0, text).map(Subject::Other)
    }

    /// Whom a row or an object is about: the target where it is named in it, else the first stock that is.
    fn owner<'a>(&self, values: impl IntoIterator<Item = &'a Value>) -> Option<Subject> {
        let named = values.into_iter().filter_map(|value| self.of(value.as_str()?));
        named.min()
    }
}

/// The number of an alias of the same make as the target's.
pub(crate) fn number(target: &str, alias: &str) -> Option<u64> {
    let make = target.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = alias.strip_prefix(make).filter(|_| !make.is_empty())?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TARGET: &str = "asset_0007";

    fn read(source: &str, content: &Value) -> UnknownContent {
        UnknownContent::in_step(&json!([{"source": source, "content": content}]), TARGET)
    }

    fn numbers(unknown: &UnknownContent) -> Vec<(Subject, f64)> {
        unknown.numbers.clone()
    }

    #[test]
    fn an_alias_is_of_the_make_of_the_targets() {
        assert_eq!(number(TARGET, "asset_0012"), Some(12));
        assert_eq!(number("stock-7", "stock-12"), Some(12));
        for other in ["asset_", "asset_12a", "asset12", "day_+7", "0012"] {
            assert_eq!(number(TARGET, other), None, "{other}");
        }
        assert_eq!(number("0007", "0012"), None, "a number alone is no name");
    }

    #[test]
    fn numbers_under_known_keys_are_no_strangers_and_all_others_are() {
        let table = |columns: Value, rows: Value| json!({"columns": columns, "rows": rows});
        let snapshot = read(
            "get_stock_snapshot",
            &json!({
                "stock_id": TARGET,
                "previous_close": 7.5,
                "close": 42.42,
                "bars": table(json!(["days_ago", "close", "vwap"]), json!([[0, 7.5, 43.5], [1, 7.25, null, 44.5]])),
                "factors": table(json!(["value", "RV_60"]), json!([["raw", 0.25]])),
                "technicals": {"rsi_14_pct": 55, "ma_200": 45.5},
                "quote": {"bars": table(json!(["close"]), json!([[46.5]]))},
            }),
        );
        let mut found: Vec<f64> = numbers(&snapshot).into_iter().map(|(_, number)| number).collect();
        found.sort_by(f64::total_cmp);
        assert_eq!(found, [42.42, 43.5, 44.5, 45.5, 46.5]);
        assert!(
            numbers(&snapshot)
                .iter()
                .all(|(subject, _)| *subject == Subject::Target)
        );
    }

    #[test]
    fn a_number_is_of_whom_it_stands_beside() {
        let rows = json!([["asset_0003", 1.5], [TARGET, 2.5], [null, 3.5]]);
        let screen = read(
            "screen_candidates",
            &json!({"candidates": {"columns": ["stock_id", "price"], "rows": rows}, "level": 4.5}),
        );
        assert_eq!(
            numbers(&screen),
            [
                (Subject::Other(3), 1.5),
                (Subject::Target, 2.5),
                (Subject::Nobody, 3.5),
                (Subject::Nobody, 4.5)
            ]
        );
        let keyed = read("state", &json!({"prices": {"asset_0003": 1.5, TARGET: [2.5]}}));
        assert_eq!(
            numbers(&keyed),
            [(Subject::Other(3), 1.5), (Subject::Target, 2.5)]
        );
        assert_eq!(keyed.numbers_of(&[Subject::Target]), [2.5]);
    }

    #[test]
    fn a_text_of_another_shape_is_read_whole() {
        let step = json!({"told": ["SH600000", {"on": "2024-03-01", "at": 12.5}]});
        let texts = |unknown: &UnknownContent| -> Vec<String> {
            unknown.texts.iter().map(|(_, text)| text.clone()).collect()
        };
        let strange = UnknownContent::in_step(&step, TARGET);
        assert_eq!(texts(&strange), ["2024-03-01", "SH600000", "at", "on", "told"]);
        assert_eq!(strange.numbers, [(Subject::Nobody, 12.5)]);
        let foreign = UnknownContent::in_step(
            &json!([{"source": "news", "content": "SH600000", "at": 3}, "more"]),
            TARGET,
        );
        assert_eq!(
            texts(&foreign),
            ["SH600000", "at", "content", "more", "news", "source"]
        );
        let known = read(
            "get_market_context",
            &json!({"day": "day_+3", "boards": [["MAIN", 1]]}),
        );
        assert_eq!(known, UnknownContent::default());
    }

    #[test]
    fn of_thousands_of_numbers_some_are_kept() {
        let many: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert_eq!(
            read("state", &json!({"prices": many})).numbers.len(),
            MOST_NUMBERS
        );
    }
}
