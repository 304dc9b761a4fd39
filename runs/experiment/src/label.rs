//! Closed sets of the exchange, which knows no files, as the labels that files have: `#[serde(with = "label")]`.

use ktd_env::exchange::{EventKind, LimitOpen, RejectCode, Side};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

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
                format!(
                    "unknown {} {text:?}: it is one of {}",
                    Self::NOUN,
                    known.join(", ")
                )
            })
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
