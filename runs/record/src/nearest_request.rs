//! The recorded request that is most like one that is not recorded, and where the two part.

use crate::exchange::{Intent, RequestPlace};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;

/// The recorded request most like one that is not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Where the recorded one stands.
    pub at: RequestPlace,
    /// The first field that differs, in the order of canonical JSON; `None` when the requests are the same and only
    /// their places differ.
    pub first: Option<Difference>,
    /// How many values differ, those inside of a missing list or object counted one by one.
    pub count: usize,
}

/// One field that differs. Values are cut to what fits a line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// JSON pointer into the request's body; `(path)` for the path below the provider's base URL.
    pub pointer: String,
    /// The recorded value.
    pub recorded: String,
    /// The value asked now.
    pub now: String,
}

/// Longest shown part of a value, characters.
const SHOWN_CHARS: usize = 120;
/// How much of what two texts have in common is shown before they part, characters.
const SHOWN_BEFORE_CHARS: usize = 30;
const ABSENT: &str = "nothing";

/// A search for it, request by request: the send of the same place, else the one with the fewest values that differ, of those
/// the one whose beginning is the same the longest, of those the earliest.
pub(crate) struct NearestSearch<'a> {
    at: RequestPlace,
    now: Request<'a>,
    text: &'a str,
    /// At the same place. The last send of a place is the one that was answered, if any was.
    here: Option<Nearest>,
    elsewhere: Option<(Reverse<usize>, usize, Nearest)>,
}

impl<'a> NearestSearch<'a> {
    pub(crate) fn new(at: RequestPlace, path: &'a str, body: &'a str) -> Self {
        Self {
            at,
            now: Request::of(path, body),
            text: body,
            here: None,
            elsewhere: None,
        }
    }

    /// Compares the next recorded request.
    pub(crate) fn compare(&mut self, intent: &Intent) {
        let is_here = intent.at == self.at;
        if self.here.is_some() && !is_here {
            return;
        }
        let recorded = Request::of(&intent.path, &intent.request);
        let nearest = Nearest::beside(intent.at, &recorded, &self.now);
        if is_here {
            self.here = Some(nearest);
            return;
        }
        let found = (Reverse(nearest.count), common_bytes(&intent.request, self.text));
        let best = self
            .elsewhere
            .as_ref()
            .map(|(count, common, _)| (*count, *common));
        if best.is_none_or(|best| best < found) {
            self.elsewhere = Some((found.0, found.1, nearest));
        }
    }

    pub(crate) fn found(self) -> Option<Nearest> {
        self.here.or_else(|| self.elsewhere.map(|(.., nearest)| nearest))
    }
}

impl Nearest {
    fn beside(at: RequestPlace, recorded: &Request<'_>, now: &Request<'_>) -> Self {
        let mut walk = Walk::default();
        if recorded.path != now.path {
            walk.pointer.push_str("(path)");
            walk.differ(Some(&Value::from(recorded.path)), Some(&Value::from(now.path)));
            walk.pointer.clear();
        }
        walk.visit(Some(&recorded.body), Some(&now.body));
        Self {
            at,
            first: walk.first,
            count: walk.count,
        }
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the nearest recorded request is {}", self.at)?;
        match &self.first {
            None => write!(f, ", which is the same"),
            Some(Difference {
                pointer,
                recorded,
                now,
            }) => {
                let more = match self.count.saturating_sub(1) {
                    0 => String::new(),
                    more => format!(" ({more} more values differ)"),
                };
                write!(
                    f,
                    "; it differs first at {pointer:?}: recorded {recorded}, now {now}{more}"
                )
            }
        }
    }
}

/// A request as it is compared.
struct Request<'a> {
    path: &'a str,
    /// The body, or its text when that is no JSON.
    body: Value,
}

impl<'a> Request<'a> {
    fn of(path: &'a str, body: &str) -> Self {
        let body = serde_json::from_str(body).unwrap_or_else(|_| Value::from(body));
        Self { path, body }
    }
}

fn common_bytes(left: &str, right: &str) -> usize {
    left.bytes()
        .zip(right.bytes())
        .take_while(|(left, right)| left == right)
        .count()
}

/// Two values walked side by side, keys sorted.
#[derive(Default)]
struct Walk {
    pointer: String,
    first: Option<Difference>,
    count: usize,
}

impl Walk {
    fn visit(&mut self, recorded: Option<&Value>, now: Option<&Value>) {
        match (recorded, now) {
            (Some(Value::Object(left)), Some(Value::Object(right))) => {
                let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
                for key in keys {
                    let step = key.replace('~', "~0").replace('/', "~1");
                    self.below(&step, left.get(key), right.get(key));
                }
            }
            (Some(Value::Array(left)), Some(Value::Array(right))) => {
                for place in 0..left.len().max(right.len()) {
                    self.below(&place.to_string(), left.get(place), right.get(place));
                }
            }
            (left, right) if left == right => {}
            (left, right) => self.differ(left, right),
        }
    }

    fn below(&mut self, step: &str, recorded: Option<&Value>, now: Option<&Value>) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        self.visit(recorded, now);
        self.pointer.truncate(length);
    }

    fn differ(&mut self, recorded: Option<&Value>, now: Option<&Value>) {
        self.count += leaves(recorded).max(leaves(now));
        if self.first.is_none() {
            let (recorded, now) = shown(recorded, now);
            self.first = Some(Difference {
                pointer: self.pointer.clone(),
                recorded,
                now,
            });
        }
    }
}

/// Values without parts below one.
fn leaves(value: Option<&Value>) -> usize {
    match value {
        None => 0,
        Some(Value::Object(fields)) => fields
            .values()
            .map(|field| leaves(Some(field)))
            .sum::<usize>()
            .max(1),
        Some(Value::Array(items)) => items.iter().map(|item| leaves(Some(item))).sum::<usize>().max(1),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => 1,
    }
}

/// Two values as text, cut to the part around where they begin to differ.
fn shown(recorded: Option<&Value>, now: Option<&Value>) -> (String, String) {
    let text = |value: Option<&Value>| value.map_or_else(|| ABSENT.to_owned(), ToString::to_string);
    let (recorded, now) = (text(recorded), text(now));
    let common = recorded
        .chars()
        .zip(now.chars())
        .take_while(|(left, right)| left == right)
        .count();
    let from = common.saturating_sub(SHOWN_BEFORE_CHARS);
    (cut(&recorded, from), cut(&now, from))
}

fn cut(text: &str, from: usize) -> String {
    let mut rest = text.chars().skip(from);
    let part: String = rest.by_ref().take(SHOWN_CHARS).collect();
    let before = if 0 < from { "…" } else { "" };
    let after = if rest.next().is_some() { "…" } else { "" };
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn place(step: usize, ordinal: u32) -> RequestPlace {
        RequestPlace {
            step,
            ordinal,
            attempt: 0,
        }
    }

    fn sent(at: RequestPlace, body: &Value) -> Intent {
        Intent {
            at,
            key: String::new(),
            path: "/chat/completions".to_owned(),
            request: body.to_string(),
        }
    }

    fn search(sends: &[Intent], at: RequestPlace, path: &str, body: &str) -> Option<Nearest> {
        let mut search = NearestSearch::new(at, path, body);
        for intent in sends {
            search.compare(intent);
        }
        search.found()
    }

    fn nearest(sends: &[Intent], at: RequestPlace, body: &Value) -> Nearest {
        search(sends, at, "/chat/completions", &body.to_string()).unwrap()
    }

    #[test]
    fn the_same_place_comes_first_however_much_differs() {
        let sends = [
            sent(place(1, 0), &json!({"model": "a", "messages": ["x", "y", "z"]})),
            sent(place(2, 0), &json!({"model": "b", "messages": []})),
        ];
        let now = json!({"model": "a", "messages": ["x", "y", "z"]});
        let found = nearest(&sends, place(2, 0), &now);
        assert_eq!(found.at, place(2, 0));
        assert_eq!(found.count, 4, "three messages and the model");
        let first = found.first.unwrap();
        assert_eq!(
            (
                first.pointer.as_str(),
                first.recorded.as_str(),
                first.now.as_str()
            ),
            ("/messages/0", "nothing", "\"x\"")
        );
    }

    #[test]
    fn elsewhere_the_request_with_the_fewest_other_values_is_taken() {
        let sends = [
            sent(
                place(1, 0),
                &json!({"messages": [{"role": "user", "content": "one"}]}),
            ),
            sent(
                place(2, 0),
                &json!({"messages": [{"role": "user", "content": "two"}, {"role": "tool"}]}),
            ),
            sent(
                place(3, 0),
                &json!({"messages": [{"role": "user", "content": "three"}]}),
            ),
        ];
        let now = json!({"messages": [{"role": "user", "content": "two"}, {"role": "tool", "id": 7}]});
        let found = nearest(&sends, place(9, 9), &now);
        assert_eq!((found.at, found.count), (place(2, 0), 1));
        assert_eq!(
            found.to_string(),
            "the nearest recorded request is step 2, request 0, attempt 0; it differs first at \
             \"/messages/1/id\": recorded nothing, now 7"
        );
        // As many values differ in all of them: the one whose beginning is the same the longest is the nearest.
        let now = json!({"messages": [{"role": "user", "content": "thr"}]});
        assert_eq!(nearest(&sends, place(9, 9), &now).at, place(3, 0));
    }

    #[test]
    fn the_same_request_at_another_place_is_told_as_such() {
        let body = json!({"model": "a"});
        let found = nearest(&[sent(place(1, 0), &body)], place(1, 5), &body);
        assert_eq!((found.count, &found.first), (0, &None));
        assert!(found.to_string().ends_with("which is the same"), "{found}");
    }

    #[test]
    fn long_values_are_shown_around_where_they_part() {
        let text = |end: &str| json!({ "a/b~": format!("{}{end}{}", "x".repeat(5000), "y".repeat(500)) });
        let found = nearest(&[sent(place(1, 0), &text("old"))], place(1, 0), &text("new"));
        let first = found.first.unwrap();
        assert_eq!(first.pointer, "/a~1b~0");
        assert!(first.recorded.contains("xold"), "{}", first.recorded);
        assert!(first.now.contains("xnew"), "{}", first.now);
        for shown in [&first.recorded, &first.now] {
            assert!(shown.chars().count() <= SHOWN_CHARS + 2, "{shown}");
        }
    }

    #[test]
    fn another_path_and_a_body_that_is_no_json_are_told_too() {
        let sends = [sent(place(1, 0), &json!({"model": "a"}))];
        let found = search(&sends, place(1, 0), "/responses", "{\"model\":").unwrap();
        let first = found.first.unwrap();
        assert_eq!(
            (first.pointer.as_str(), first.now.as_str()),
            ("(path)", "\"/responses\"")
        );
        assert_eq!(found.count, 2);
        assert!(search(&[], place(1, 0), "/x", "{}").is_none());
    }
}
