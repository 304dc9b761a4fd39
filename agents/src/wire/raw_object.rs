//! A JSON object whose members keep their text and their order.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

/// Members in the order they came, values untouched. Opaque fields of a vendor survive it byte for byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawObject(Vec<(String, Box<RawValue>)>);

impl RawObject {
    /// Reads `text`, or `None` when it is not an object.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// A member that is present and not null.
    pub(crate) fn member(&self, key: &str) -> Option<&RawValue> {
        self.0
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| &**value)
            .filter(|value| value.get() != "null")
    }

    /// The text of a member that is present and not null.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.member(key).map(RawValue::get)
    }

    /// A member that is an object.
    pub(crate) fn object(&self, key: &str) -> Option<Self> {
        self.get(key).and_then(Self::read)
    }

    /// A member that is a text.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(read_text)
    }

    /// A member that is a whole number of at least zero.
    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(|text| serde_json::from_str(text).ok())
    }

    /// What a JSON pointer below this object leads to, when that is a whole number of at least zero.
    pub(crate) fn count_at(&self, pointer: &str) -> Option<u64> {
        self.value_at(pointer)?.as_u64()
    }

    /// What a JSON pointer leads to, US dollars, in millionths of a millionth.
    pub(crate) fn picodollars_at(&self, pointer: &str) -> Option<u64> {
        let dollars = self.value_at(pointer)?.as_f64()?;
        let pico = (dollars * 1e12).round();
        // Above 2^53 a float no longer counts picodollars; that is nine thousand dollars for one reply.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked"
        )]
        let whole = (0.0..9.0e15).contains(&pico).then_some(pico as u64);
        whole
    }

    fn value_at(&self, pointer: &str) -> Option<serde_json::Value> {
        let mut value = serde_json::to_value(self).ok()?;
        value.pointer_mut(pointer).map(serde_json::Value::take)
    }

    /// A member that is an array, item by item.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<Box<RawValue>>> {
        self.get(key).and_then(|text| serde_json::from_str(text).ok())
    }

    /// Puts the members of `other` that are not null in the places of those of the same names, or at the end.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (key, value) in &other.0 {
            if value.get() != "null" {
                self.set(key, value.clone());
            }
        }
    }

    /// Takes a member out.
    pub(crate) fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }

    /// Puts `value` in the place of `key`, or at the end.
    pub(crate) fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.0.iter_mut().rev().find(|(name, _)| name == key) {
            Some((_, place)) => *place = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }
}

/// The JSON text of a value.
pub(crate) fn to_raw<T: Serialize>(value: &T) -> Box<RawValue> {
    // Texts and members that were JSON before cannot fail to serialise.
    serde_json::value::to_raw_value(value).unwrap_or_default()
}

/// A JSON text as a `String`; a lone surrogate, which no `String` can hold, becomes U+FFFD.
pub(crate) fn read_text(json: &str) -> Option<String> {
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return Some(text);
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_bytes(Lossy).ok()
}

struct Lossy;

impl Visitor<'_> for Lossy {
    type Value = String;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = RawObject;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(RawObject(members))
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_text_and_order() {
        let text = r#"{"z": 1.50,"a":{"n":12345678901234567890123},"b":null}"#;
        let object = RawObject::read(text).unwrap();
        assert_eq!(
            serde_json::to_string(&object).unwrap(),
            r#"{"z":1.50,"a":{"n":12345678901234567890123},"b":null}"#
        );
        assert_eq!(object.get("b"), None);
        assert_eq!(object.get("z"), Some("1.50"));
    }

    #[test]
    fn a_lone_surrogate_does_not_lose_the_text() {
        assert_eq!(read_text(r#""a\ud800b""#).unwrap(), "a\u{fffd}\u{fffd}\u{fffd}b");
        assert_eq!(read_text("12"), None);
    }
}
