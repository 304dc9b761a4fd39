//! Closed sets of core crates, which know no files, as the labels that files have: `#[serde(with = "label")]`.

use crate::nearest::did_you_mean;
use ktd_env::exchange::{EventKind, LimitOpen, RejectCode, Side};
use ktd_masking::{Level, Mode, Numeric};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;
use std::borrow::Cow;
use std::marker::PhantomData;

/// A closed set of values, each with a label.
pub trait Labelled: Copy + 'static {
    /// What one of them is called in messages.
    const NOUN: &'static str;

    /// All values.
    fn all() -> &'static [Self];

    /// The name of this one in files.
    fn label(self) -> &'static str;

    /// The value of that name.
    ///
    /// # Errors
    /// A message with the names that there are.
    fn of_label(text: &str) -> Result<Self, String> {
        let all = Self::all();
        all.iter()
            .copied()
            .find(|value| value.label() == text)
            .ok_or_else(|| {
                let known: Vec<&str> = all.iter().map(|value| value.label()).collect();
                let meant = did_you_mean(text, known.iter().copied());
                let (noun, known) = (Self::NOUN, known.join(", "));
                format!("unknown {noun} {text:?}: it is one of {known}{meant}")
            })
    }
}

/// A label in a file, of which the schema names all.
#[derive(Debug)]
pub struct Label<T>(PhantomData<T>);

impl<T: Labelled> JsonSchema for Label<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::NOUN.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let labels: Vec<&str> = T::all().iter().map(|value| value.label()).collect();
        json_schema!({ "type": "string", "enum": labels })
    }
}

/// A type with `ALL` and a label is labelled.
macro_rules! labelled {
    ($($type:ty: $noun:literal, $label:ident;)+) => {$(
        impl Labelled for $type {
            const NOUN: &'static str = $noun;

            fn all() -> &'static [Self] {
                &Self::ALL
            }

            fn label(self) -> &'static str {
                Self::$label(self)
            }
        }
    )+};
}

labelled!(
    Level: "mask level", label;
    Numeric: "numeric setting", label;
    Mode: "mode", label;
    Side: "side", label;
    EventKind: "kind of event", label;
    RejectCode: "reject code", code;
    LimitOpen: "open at a limit", label;
);

/// Writes a label.
///
/// # Errors
/// The serialiser's own.
pub fn serialize<T: Labelled, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.label())
}

/// Writes a list of labels.
///
/// # Errors
/// The serialiser's own.
pub fn write_list<T: Labelled, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| value.label()))
}

/// Reads a label.
///
/// # Errors
/// An unknown label, with those that there are.
pub fn deserialize<'de, T: Labelled, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::of_label(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// A label that may be absent: `#[serde(with = "label::optional")]`.
pub mod optional {
    use super::{Deserialize, Deserializer, Error, Labelled, Serializer};

    /// Writes a label or nothing.
    ///
    /// # Errors
    /// The serialiser's own.
    pub fn serialize<T: Labelled, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_some(value.label()),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a label or nothing.
    ///
    /// # Errors
    /// An unknown label, with those that there are.
    pub fn deserialize<'de, T: Labelled, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let label = Option::<String>::deserialize(deserializer)?;
        label
            .map(|label| T::of_label(&label).map_err(D::Error::custom))
            .transpose()
    }
}

/// Reads a list of labels.
///
/// # Errors
/// An unknown label, with those that there are.
pub fn list<'de, T: Labelled, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let labels = Vec::<String>::deserialize(deserializer)?;
    let values = labels.iter().map(|label| T::of_label(label));
    values.collect::<Result<_, _>>().map_err(D::Error::custom)
}
