//! Levels, modes and numeric settings as the labels that files have.

use crate::level::Level;
use crate::mode::Mode;
use crate::numeric::Numeric;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A type with `ALL`, `label` and `parse` is its label in files, and their schemas name all of them.
macro_rules! labelled {
    ($($type:ty: $noun:literal;)+) => {$(
        impl $type {
            /// The value of a label.
            ///
            /// # Errors
            /// A message with the labels that there are.
            pub fn of_label(text: &str) -> Result<Self, String> {
                Self::parse(text).ok_or_else(|| {
                    let known = Self::ALL.map(Self::label).join(", ");
                    format!("unknown {} {text:?}: it is one of {known}", $noun)
                })
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.label())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::of_label(&String::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $noun.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": Self::ALL.map(Self::label) })
            }
        }
    )+};
}

labelled!(
    Level: "mask level";
    Numeric: "numeric setting";
    Mode: "mode";
);
