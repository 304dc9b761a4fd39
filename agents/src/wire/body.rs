//! A request body in the making: members with sorted keys, each with its own text.

use crate::chat::Thinking;
use crate::dialect::Dialect;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The members of a request body. The same members give the same bytes.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Body(BTreeMap<String, Box<RawValue>>);

impl Body {
    /// Puts a member.
    pub(super) fn put<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        // Texts, finite numbers and JSON that was parsed before cannot fail to serialise.
        if let Ok(raw) = to_raw_value(value) {
            self.0.insert(key.to_owned(), raw);
        }
    }

    /// Puts a member when there is a value.
    pub(super) fn put_some<T: Serialize>(&mut self, key: &str, value: Option<T>) {
        if let Some(value) = value {
            self.put(key, &value);
        }
    }

    /// Merges a dialect's own members; objects are merged into objects, everything else is replaced.
    pub(super) fn merge(&mut self, members: &Map<String, Value>) {
        for (key, value) in members {
            let before = self
                .0
                .get(key)
                .filter(|_| value.is_object())
                .and_then(|raw| serde_json::from_str(raw.get()).ok());
            match before {
                Some(mut merged @ Value::Object(_)) => {
                    merge(&mut merged, value);
                    self.put(key, &Sorted(&merged));
                }
                _ => self.put(key, &Sorted(value)),
            }
        }
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => into.clone_from(from),
    }
}

/// Merges what switches thinking on or off at this vendor.
pub(super) fn merge_thinking(body: &mut Body, thinking: Thinking, dialect: &Dialect) {
    let switch = match thinking {
        Thinking::VendorDefault => None,
        Thinking::On => dialect.thinking.on.as_ref(),
        Thinking::Off => dialect.thinking.off.as_ref(),
    };
    if let Some(members) = switch {
        body.merge(members);
    }
}

/// JSON with sorted keys, whatever order `serde_json`'s map keeps in this build.
pub(super) struct Sorted<'a>(pub(super) &'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(object) = self.0.as_object() {
            let sorted: BTreeMap<_, _> = object.iter().map(|(key, value)| (key, Sorted(value))).collect();
            return sorted.serialize(serializer);
        }
        if let Some(items) = self.0.as_array() {
            return serializer.collect_seq(items.iter().map(Sorted));
        }
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_members_merged_deeply() {
        let mut body = Body::default();
        body.put("z", &1);
        body.put("g", &json!({"b": {"y": 1, "x": 2}, "a": 1}));
        body.put_some("none", None::<u32>);
        let more: Value = serde_json::from_str(r#"{"g":{"b":{"x":3}},"a":{"d":1,"c":null}}"#).unwrap();
        body.merge(more.as_object().unwrap());
        let text = String::from_utf8(body.bytes()).unwrap();
        assert_eq!(
            text,
            r#"{"a":{"c":null,"d":1},"g":{"a":1,"b":{"x":3,"y":1}},"z":1}"#
        );
    }
}
