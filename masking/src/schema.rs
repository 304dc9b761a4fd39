//! JSON Schemas of tool arguments, made from Rust types alone.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// A JSON Schema (2020-12) of one Rust type, with every definition inlined because some vendors reject `$ref`.
///
/// Its text comes from type, field and doc-comment text, which is fixed at compile time: no run-time text enters.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema(Value);

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
        Self(value)
    }

    /// The schema as JSON.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.0
    }
}

/// Removes Rust's own number formats (`uint32`, `double`), which no vendor knows and some reject, and the line breaks
/// of doc comments.
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
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A tool as a model is told about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name the model calls it by.
    pub name: &'static str,
    /// What it does, with units and an example.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub parameters: Schema,
}
