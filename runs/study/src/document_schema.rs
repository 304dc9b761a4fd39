//! JSON Schema of a document, from the type that is written.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// JSON Schema of a document as it is written: an object takes no key that its type does not name, and a key that may be left out
/// is never null.
#[must_use]
pub fn document_schema<D: JsonSchema + ?Sized>() -> Value {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(close))
        .into_generator()
        .into_root_schema_for::<D>()
        .to_value()
}

fn close(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if !object.contains_key("properties") {
        return;
    }
    let required = object
        .get("required")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        let may_lack = |name: &String| !required.iter().any(|key| key == name);
        for (_, property) in properties.iter_mut().filter(|(name, _)| may_lack(name)) {
            if let Some(property) = property.as_object_mut() {
                never_null(property);
            }
        }
    }
    object.entry("additionalProperties").or_insert(Value::Bool(false));
}

/// What a value is besides null.
fn never_null(property: &mut Map<String, Value>) {
    let is_null = |kind: &Value| kind == "null" || kind.get("type").is_some_and(|name| name == "null");
    if let Some(kinds) = property.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| !is_null(kind));
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(kinds) = property.get_mut("anyOf").and_then(Value::as_array_mut) {
        kinds.retain(|kind| !is_null(kind));
        if let [Value::Object(only)] = kinds.as_slice() {
            let only = only.clone();
            property.remove("anyOf");
            property.extend(only);
        }
    }
}
