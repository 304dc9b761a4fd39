//! A tool's schema as a vendor's strict mode wants it.

use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Keywords whose values are schemas by name.
const NAMED: [&str; 3] = ["$defs", "definitions", "properties"];

/// Keywords whose values are lists of schemas.
const LISTED: [&str; 3] = ["allOf", "anyOf", "prefixItems"];

/// Keywords that strict mode refuses. They only narrow what is allowed, and a submission is held against the whole
/// schema when it is read, so that leaving them out lets nothing through.
const REFUSED: [&str; 20] = [
    "allOf",
    "contains",
    "default",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "maxLength",
    "maxProperties",
    "minContains",
    "minLength",
    "minProperties",
    "not",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Bounds that Anthropic's structured outputs refuse as well.
const BOUNDS: [&str; 6] = [
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maximum",
    "minimum",
    "multipleOf",
];

/// What they take of that which `OpenAI` refuses.
const TAKEN: [&str; 2] = ["allOf", "default"];

/// `schema` as Anthropic's structured outputs and strict tools want it: objects are closed, what is optional may be
/// left out, and there are no bounds.
///
/// Source: the vendor's guide to structured outputs, "JSON Schema limitations".
pub(super) fn closed(schema: &Value) -> Value {
    narrowed(schema, Subset::Closed)
}

/// What a vendor takes of JSON Schema where it holds the model to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subset {
    /// `OpenAI`'s: every property is required.
    Required,
    /// Anthropic's: no bounds.
    Closed,
}

impl Subset {
    fn refuses(self, key: &str, value: &Value) -> bool {
        match self {
            Self::Required => REFUSED.contains(&key),
            Self::Closed if TAKEN.contains(&key) => false,
            Self::Closed if key == "minItems" => value != 0 && value != 1,
            Self::Closed => REFUSED.contains(&key) || BOUNDS.contains(&key),
        }
    }
}

/// `schema` as it is, or as strict mode wants it.
pub(super) fn emit(schema: &Value, is_strict: bool) -> Cow<'_, Value> {
    if is_strict {
        Cow::Owned(strict(schema))
    } else {
        Cow::Borrowed(schema)
    }
}

/// The schema in `OpenAI`'s strict subset: objects are closed, every property is required, and what was optional may
/// be null. A schema of that subset stays as it is.
///
/// The list of keywords is that of the guide to structured outputs as it is commonly known; it was not checked against it.
fn strict(schema: &Value) -> Value {
    narrowed(schema, Subset::Required)
}

fn narrowed(schema: &Value, subset: Subset) -> Value {
    let Some(members) = schema.as_object() else {
        return schema.clone();
    };
    let mut strict_members = Map::new();
    for (key, value) in members {
        match (key.as_str(), value) {
            (key, value) if subset.refuses(key, value) => {}
            (key, Value::Object(schemas)) if NAMED.contains(&key) => {
                let schemas = schemas
                    .iter()
                    .map(|(name, schema)| (name.clone(), narrowed(schema, subset)));
                strict_members.insert(key.to_owned(), Value::Object(schemas.collect()));
            }
            (key, Value::Array(schemas)) if LISTED.contains(&key) || key == "oneOf" => {
                // Strict mode knows one kind of union.
                let key = if key == "oneOf" { "anyOf" } else { key };
                let schemas = schemas.iter().map(|schema| narrowed(schema, subset));
                strict_members.insert(key.to_owned(), schemas.collect());
            }
            ("items", schema) => {
                strict_members.insert("items".to_owned(), narrowed(schema, subset));
            }
            (key, value) => {
                strict_members.insert(key.to_owned(), value.clone());
            }
        }
    }
    let is_object = strict_members.get("type").is_some_and(|kind| kind == "object");
    match strict_members.get("properties").cloned() {
        Some(Value::Object(properties)) if subset == Subset::Required => {
            close(&mut strict_members, properties);
        }
        Some(_) | None if subset == Subset::Closed && is_object => {
            strict_members.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        Some(_) | None => {}
    }
    Value::Object(strict_members)
}

/// Closes an object and requires all its properties.
fn close(object: &mut Map<String, Value>, mut properties: Map<String, Value>) {
    let mut required: Vec<Value> = match object.remove("required") {
        Some(Value::Array(required)) => required,
        Some(_) | None => Vec::new(),
    };
    let mut optional: Vec<String> = properties
        .keys()
        .filter(|name| !required.iter().any(|known| known == name.as_str()))
        .cloned()
        .collect();
    // The order must not depend on that of the map.
    optional.sort();
    for name in optional {
        if let Some(schema) = properties.get_mut(&name) {
            *schema = nullable(std::mem::take(schema));
        }
        required.push(Value::String(name));
    }
    object.insert("properties".to_owned(), Value::Object(properties));
    object.insert("required".to_owned(), Value::Array(required));
    object.insert("additionalProperties".to_owned(), Value::Bool(false));
}

/// The union of a schema with null.
fn nullable(mut schema: Value) -> Value {
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) => vec![json!(kind)],
        Some(Value::Array(kinds)) => kinds.clone(),
        Some(_) | None => return json!({ "anyOf": [schema, { "type": "null" }] }),
    };
    let Some(members) = schema.as_object_mut() else {
        return schema;
    };
    if kinds.iter().all(|kind| kind != "null") {
        let kinds = kinds.into_iter().chain([json!("null")]).collect();
        members.insert("type".to_owned(), Value::Array(kinds));
    }
    if let Some(Value::Array(values)) = members.get_mut("enum")
        && values.iter().all(|value| !value.is_null())
    {
        values.push(Value::Null);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical() -> Value {
        json!({
            "type": "object",
            "description": "An action.",
            "properties": {
                "orders": { "type": "array", "maxItems": 9, "uniqueItems": true, "items": {
                    "type": "object",
                    "properties": {
                        "side": { "type": "string", "enum": ["BUY", "SELL"], "default": "BUY" },
                        "default": { "type": "string", "minLength": 1 },
                        "weight": { "type": "number", "maximum": 1 },
                        "one": { "oneOf": [{ "type": "string" }, { "type": "object", "properties": {} }] },
                    },
                    "required": ["default"],
                } },
                "reason": { "type": "string" },
            },
            "required": ["orders", "reason"],
        })
    }

    #[test]
    fn objects_are_closed_and_what_was_optional_may_be_null() {
        let empty =
            json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false });
        let expected = json!({
            "type": "object",
            "description": "An action.",
            "properties": {
                "orders": { "type": "array", "maxItems": 9, "items": {
                    "type": "object",
                    "properties": {
                        "side": { "type": ["string", "null"], "enum": ["BUY", "SELL", null] },
                        "default": { "type": "string" },
                        "weight": { "type": ["number", "null"], "maximum": 1 },
                        "one": { "anyOf": [{ "anyOf": [{ "type": "string" }, empty] }, { "type": "null" }] },
                    },
                    "required": ["default", "one", "side", "weight"],
                    "additionalProperties": false,
                } },
                "reason": { "type": "string" },
            },
            "required": ["orders", "reason"],
            "additionalProperties": false,
        });
        assert_eq!(strict(&canonical()), expected);
        assert_eq!(strict(&expected), expected, "a strict schema stays as it is");
        assert_eq!(*emit(&canonical(), false), canonical());
    }

    #[test]
    fn where_bounds_are_refused_objects_are_closed_and_optional_stays_optional() {
        let expected = json!({
            "type": "object",
            "description": "An action.",
            "properties": {
                "orders": { "type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "side": { "type": "string", "enum": ["BUY", "SELL"], "default": "BUY" },
                        "default": { "type": "string" },
                        "weight": { "type": "number" },
                        "one": { "anyOf": [
                            { "type": "string" },
                            { "type": "object", "properties": {}, "additionalProperties": false },
                        ] },
                    },
                    "required": ["default"],
                    "additionalProperties": false,
                } },
                "reason": { "type": "string" },
            },
            "required": ["orders", "reason"],
            "additionalProperties": false,
        });
        assert_eq!(closed(&canonical()), expected);
        assert_eq!(closed(&expected), expected, "a closed schema stays as it is");
        assert_eq!(
            closed(&json!({ "type": "array", "minItems": 2, "allOf": [{ "type": "object" }] })),
            json!({ "type": "array", "allOf": [{ "type": "object", "additionalProperties": false }] })
        );
    }
}
