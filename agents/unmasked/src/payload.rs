//! The answer to a tool call, with text from outside any mask.

use ktd_masking::Payload;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A value for a model: a masked payload, text from outside any mask, or lists and objects of them.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenPayload(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Masked(Payload),
    Outside(String),
    List(Vec<OpenPayload>),
    Map(Vec<(&'static str, OpenPayload)>),
}

impl OpenPayload {
    /// Text from outside any mask, as it is.
    #[must_use]
    pub fn outside(text: impl Into<String>) -> Self {
        Self(Node::Outside(text.into()))
    }

    /// A sequence.
    #[must_use]
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self(Node::List(items.into_iter().collect()))
    }

    /// An object; keys keep the order given.
    #[must_use]
    pub fn map(entries: impl IntoIterator<Item = (&'static str, Self)>) -> Self {
        Self(Node::Map(entries.into_iter().collect()))
    }

    /// The compact JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A closed tree of strings, finite numbers and static keys cannot fail to serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The text to put inside a sentence: text bare, everything else as JSON.
    #[must_use]
    pub fn to_inline(&self) -> String {
        match &self.0 {
            Node::Masked(payload) => payload.to_inline(),
            Node::Outside(text) => text.clone(),
            Node::List(_) | Node::Map(_) => self.to_json(),
        }
    }
}

impl From<Payload> for OpenPayload {
    fn from(payload: Payload) -> Self {
        Self(Node::Masked(payload))
    }
}

impl Serialize for OpenPayload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Node::Masked(payload) => payload.serialize(serializer),
            Node::Outside(text) => serializer.serialize_str(text),
            Node::List(items) => serializer.collect_seq(items),
            Node::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
