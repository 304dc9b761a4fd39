//! Tool calls as vendors send them: ids made unique, arguments and names repaired where nothing is guessed.

use crate::arguments::{Arguments, is_object};
use crate::chat::{CallId, Normalised, ToolCall};
use crate::wire::raw_object::{read_text, to_raw};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// Most calls of one reply that are read. No step needs as many; those beyond are the model's mistake, and neither
/// answered nor sent back, because every later request would carry them.
pub const CALLS_PER_REPLY_MAX: usize = 64;

/// Reads the calls of one reply.
pub(super) struct Calls<'a> {
    digest: u64,
    seen: BTreeSet<String>,
    normalised: &'a mut BTreeSet<Normalised>,
    read: Vec<ToolCall>,
    /// Calls beyond [`CALLS_PER_REPLY_MAX`].
    dropped: usize,
}

impl<'a> Calls<'a> {
    /// `digest` names the reply's bytes: reading the same reply again mints the same ids.
    pub(super) const fn new(digest: u64, normalised: &'a mut BTreeSet<Normalised>) -> Self {
        Self {
            digest,
            seen: BTreeSet::new(),
            normalised,
            read: Vec::new(),
            dropped: 0,
        }
    }

    /// Whether no further call is read. A caller asks before each one, and leaves the echo of what is not read out.
    pub(super) fn is_full(&mut self) -> bool {
        let is_full = CALLS_PER_REPLY_MAX <= self.read.len();
        self.dropped += usize::from(is_full);
        is_full
    }

    /// Adds a call; `arguments` is the JSON of the member, absent or null being `None`. Returns the id to echo when it
    /// is not the vendor's own.
    pub(super) fn push(&mut self, id: Option<String>, name: &str, arguments: Option<&str>) -> Option<String> {
        let given = id.filter(|id| !id.trim().is_empty());
        let (id, minted) = match given {
            Some(id) if self.seen.insert(id.clone()) => (id, None),
            duplicate => {
                self.normalised
                    .insert(duplicate.map_or(Normalised::IdMinted, |_| Normalised::IdReminted));
                let id = self.mint();
                (id.clone(), Some(id))
            }
        };
        let name = self.name(name);
        let arguments = Arguments::read(self.arguments(arguments));
        self.read.push(ToolCall {
            id: CallId(id),
            name,
            arguments,
        });
        minted
    }

    /// Adds a call of a wire whose arguments are an object; otherwise as [`Self::push`].
    pub(super) fn push_object(
        &mut self,
        id: Option<String>,
        name: &str,
        input: Option<&str>,
    ) -> Option<String> {
        let minted = self.push(id, name, Some("\"{}\""));
        let arguments = match input {
            Some(json) if json.trim_start().starts_with('"') => self.arguments(Some(json)),
            Some(json) => json.to_owned(),
            None => self.arguments(None),
        };
        if let Some(call) = self.read.last_mut() {
            call.arguments = Arguments::read(arguments);
        }
        minted
    }

    /// The calls read, in their order, and how many more there were.
    pub(super) fn finish(self) -> (Vec<ToolCall>, usize) {
        (self.read, self.dropped)
    }

    fn mint(&mut self) -> String {
        let mut salt = self.read.len();
        loop {
            let id = format!("call_{:016x}_{salt}", self.digest);
            if self.seen.insert(id.clone()) {
                return id;
            }
            salt += 1;
        }
    }

    /// Some servers leave a template's token behind the name (`submit_action<|channel|>commentary`).
    fn name(&mut self, name: &str) -> String {
        match name.split_once("<|") {
            Some((bare, _)) if !bare.trim().is_empty() => {
                self.normalised.insert(Normalised::NameSuffix);
                bare.trim().to_owned()
            }
            _ => name.to_owned(),
        }
    }

    fn arguments(&mut self, json: Option<&str>) -> String {
        let Some(json) = json else {
            self.normalised.insert(Normalised::ArgumentsEmpty);
            return "{}".to_owned();
        };
        let Some(text) = read_text(json) else {
            self.normalised.insert(Normalised::ArgumentsNotText);
            return json.to_owned();
        };
        if is_nothing(&text) {
            self.normalised.insert(Normalised::ArgumentsEmpty);
            return "{}".to_owned();
        }
        if let Some(inner) = double_encoded(&text) {
            self.normalised.insert(Normalised::DoubleEncoded);
            return inner;
        }
        if let Some(half) = duplicated(&text) {
            self.normalised.insert(Normalised::Duplicated);
            return half.to_owned();
        }
        text
    }
}

/// The object inside a JSON text, when `text` is one: exactly one layer is taken off.
fn double_encoded(text: &str) -> Option<String> {
    let inner = text.trim();
    if !inner.starts_with('"') {
        return None;
    }
    let inner: String = serde_json::from_str(inner).ok()?;
    is_object(&inner).then_some(inner)
}

/// One half of `text`, when it is the same object twice, byte for byte.
fn duplicated(text: &str) -> Option<&str> {
    let text = text.trim();
    let (left, right) = text.split_at_checked(text.len() / 2)?;
    (left.len() == right.len() && left == right && is_object(left)).then_some(left)
}

/// Whether a text of arguments says that there are none. Some servers write `null` for a call without parameters.
fn is_nothing(text: &str) -> bool {
    matches!(text.trim(), "" | "null")
}

/// The object that goes back in the place of arguments that some providers would refuse in a history; `None` where they
/// go back as they came.
///
/// `json` is the member as it came, absent or null being `None`. No arguments go back as `{}` (`MiniMax` refuses an
/// empty text), and what is no JSON object goes back wrapped, as the model's own text (docs/spec/wires.md#echo).
pub(super) fn sendable(json: Option<&str>) -> Option<Box<RawValue>> {
    let text = json.map(|json| read_text(json).unwrap_or_else(|| json.to_owned()));
    match text.filter(|text| !is_nothing(text)) {
        None => Some(to_raw(&BTreeMap::<&str, &str>::new())),
        Some(text) if is_object(&text) => None,
        Some(text) => Some(to_raw(&BTreeMap::from([("INVALID_JSON", text)]))),
    }
}

/// As [`sendable`], on a wire that takes objects alone: one inside a text is taken out of it.
pub(super) fn sendable_object(json: Option<&str>) -> Option<Box<RawValue>> {
    sendable(json).or_else(|| RawValue::from_string(read_text(json?)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &str) -> (String, Vec<Normalised>) {
        let json = serde_json::to_string(arguments).unwrap();
        let mut normalised = BTreeSet::new();
        let mut calls = Calls::new(1, &mut normalised);
        calls.push(Some("a".to_owned()), "t", Some(&json));
        let text = calls.finish().0.remove(0).arguments.as_str().to_owned();
        (text, normalised.into_iter().collect())
    }

    #[test]
    fn one_layer_and_equal_halves_are_repaired_and_nothing_else() {
        assert_eq!(
            read(r#""{\"a\":1}""#),
            (r#"{"a":1}"#.to_owned(), vec![Normalised::DoubleEncoded])
        );
        assert_eq!(
            read(r#"{"a":1}{"a":1}"#),
            (r#"{"a":1}"#.to_owned(), vec![Normalised::Duplicated])
        );
        for kept in [
            r#"{"a":1}{"a":2}"#,
            r#""plain""#,
            "{'a':1}",
            r#"{"a":1} {"a":1}x"#,
            "[1][1]",
        ] {
            assert_eq!(read(kept), (kept.to_owned(), vec![]), "{kept}");
        }
    }

    #[test]
    fn a_text_that_says_nothing_is_no_arguments() {
        for text in ["", " ", "null", " null\n"] {
            assert_eq!(
                read(text),
                ("{}".to_owned(), vec![Normalised::ArgumentsEmpty]),
                "{text:?}"
            );
        }
        assert_eq!(read("nullify").1, vec![]);
    }

    #[test]
    fn a_token_behind_the_name_is_cut_off() {
        let mut normalised = BTreeSet::new();
        let mut calls = Calls::new(1, &mut normalised);
        calls.push(None, "submit_action<|channel|>commentary", Some("\"{}\""));
        calls.push(None, "<|x", Some("\"{}\""));
        let (calls, _) = calls.finish();
        assert_eq!(
            (calls[0].name.as_str(), calls[1].name.as_str()),
            ("submit_action", "<|x")
        );
        assert_ne!(calls[0].id, calls[1].id);
        assert!(normalised.contains(&Normalised::NameSuffix) && normalised.contains(&Normalised::IdMinted));
    }

    #[test]
    fn what_is_no_object_goes_back_wrapped() {
        let text = r#""{\"a\":1}""#;
        for kept in [r#"{"a":1}"#, text] {
            assert!(sendable(Some(kept)).is_none(), "{kept}");
        }
        assert_eq!(sendable_object(Some(text)).unwrap().get(), r#"{"a":1}"#);
        assert!(sendable_object(Some(r#"{"a":1}"#)).is_none());
        for (json, echo) in [
            (None, "{}"),
            (Some("\"\""), "{}"),
            (Some("\" null\""), "{}"),
            (Some("\"{'a'\""), r#"{"INVALID_JSON":"{'a'"}"#),
            (Some("7"), r#"{"INVALID_JSON":"7"}"#),
        ] {
            assert_eq!(sendable(json).unwrap().get(), echo);
            assert_eq!(sendable_object(json).unwrap().get(), echo);
        }
    }
}
