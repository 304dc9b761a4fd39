//! JSON Schemas of tool arguments, made from Rust types alone.

use crate::Payload;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A JSON Schema (2020-12) of one Rust type, with every definition inlined because some vendors reject `$ref`.
///
/// Its text comes from type, field and doc-comment text, which is fixed at compile time: no run-time text enters.
/// Keys are sorted, so that the same type gives the same bytes in every build.
/// Copies share it: it is made once and goes out with every request.
#[derive(Debug, Clone)]
pub struct Schema(Arc<Written>);

#[derive(Debug)]
struct Written {
    value: Value,
    text: Box<RawValue>,
}

impl Schema {
    /// The schema of `T`.
    #[must_use]
    pub fn of<T: JsonSchema>() -> Self {
        let mut settings = SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
        if let Some(object) = value.as_object_mut() {
            object.remove("title");
            // Some vendors take no object schema without it.
            if object.get("type").is_some_and(|kind| kind == "object") {
                object.entry("properties").or_insert_with(|| json!({}));
            }
        }
        tidy(&mut value);
        // JSON that was made from a type cannot fail to be written.
        let text = to_raw_value(&value).unwrap_or_default();
        Self(Arc::new(Written { value, text }))
    }

    /// The schema as JSON.
    #[must_use]
    pub fn as_value(&self) -> &Value {
        &self.0.value
    }

    /// The schema as JSON text, keys sorted, without white space.
    #[must_use]
    pub fn as_text(&self) -> &RawValue {
        &self.0.text
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.0.value == other.0.value
    }
}

impl From<&Schema> for Payload {
    /// The schema's JSON text, for a sentence that asks for an answer in words.
    fn from(schema: &Schema) -> Self {
        Self::shown(schema.as_text().get().to_owned())
    }
}

/// Removes Rust's own number formats (`uint32`, `double`), which no vendor knows and some reject, and the line breaks
/// of doc comments; sorts the keys.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(members) => {
            // A property called `format` is an object or a boolean; the keyword is a string.
            if members.get("format").is_some_and(Value::is_string) {
                members.remove("format");
            }
            if let Some(Value::String(description)) = members.get_mut("description") {
                *description = description.replace('\n', " ");
            }
            members.values_mut().for_each(tidy);
            // Other crates of a build decide whether the map keeps the order of insertion.
            let sorted: BTreeMap<String, Value> = std::mem::take(members).into_iter().collect();
            members.extend(sorted);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Tool as it is described to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name the model calls it by.
    pub name: &'static str,
    /// What it does, with units and an example.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub parameters: Schema,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "read by the schema generator alone")]
    struct Plan {
        /// How
        /// many.
        size: u32,
        /// Which.
        item: String,
    }

    #[test]
    fn a_schema_is_shown_as_its_json_with_sorted_keys() {
        let shown = Payload::from(&Schema::of::<Plan>()).to_inline();
        assert_eq!(
            shown,
            r#"{"properties":{"item":{"description":"Which.","type":"string"},"size":{"description":"How many.","minimum":0,"type":"integer"}},"required":["size","item"],"type":"object"}"#
        );
    }
}
