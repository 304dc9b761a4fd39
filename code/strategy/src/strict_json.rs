//! JSON without what readers disagree about: no key twice, no number beyond f64, nothing after the value.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// A JSON value whose objects name each key once. Numbers are f64.
#[derive(Debug, Clone, PartialEq)]
pub enum StrictJson {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A finite number.
    Number(f64),
    /// A text.
    Text(String),
    /// An array.
    List(Vec<Self>),
    /// An object, by key.
    Map(BTreeMap<String, Self>),
}

impl StrictJson {
    /// The one value of a text.
    ///
    /// # Errors
    /// A sentence with line and column for text that is no JSON, a key twice, a number beyond f64, nesting beyond 128, and
    /// anything after the value.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Member of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members.get(key),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// Members, if it is an object.
    #[must_use]
    pub const fn as_map(&self) -> Option<&BTreeMap<String, Self>> {
        match self {
            Self::Map(members) => Some(members),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// Items, if it is an array.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Map(_) => None,
        }
    }

    /// Text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Number, if it is one.
    #[must_use]
    pub const fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) | Self::Map(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = StrictJson;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<StrictJson, E> {
        Ok(StrictJson::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<StrictJson, E> {
        Ok(StrictJson::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of cards are f64")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<StrictJson, E> {
        Ok(StrictJson::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of cards are f64")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<StrictJson, E> {
        Ok(StrictJson::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<StrictJson, E> {
        Ok(StrictJson::Number(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<StrictJson, E> {
        Ok(StrictJson::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<StrictJson, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(StrictJson::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<StrictJson, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry::<String, StrictJson>()? {
            if members.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
            members.insert(key, value);
        }
        Ok(StrictJson::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_readers_disagree_about_is_refused() {
        for wrong in [
            "",
            "{'a': 1}",
            "{\"a\":1,\"a\":2}",
            "NaN",
            "[Infinity]",
            "1e999",
            "{} {}",
            "[1,]",
            "{\"a\":{\"b\":1,\"b\":1}}",
        ] {
            assert!(StrictJson::parse(wrong).is_err(), "{wrong}");
        }
        assert!(StrictJson::parse(&"[".repeat(100_000)).is_err());
        let value = StrictJson::parse(" {\"a\": [1, 2.5, null, true, \"é\"]} ").unwrap();
        assert_eq!(
            value.get("a").and_then(StrictJson::as_list).map(<[_]>::len),
            Some(5)
        );
    }
}
