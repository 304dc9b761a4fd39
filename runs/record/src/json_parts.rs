//! JSON that texts carry, and its keys, columns and texts.

use serde_json::{Deserializer, Value};

/// Every JSON object or list in a text, in order; what is between them is left out.
#[must_use]
pub fn values_in(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['{', '[']) {
        let candidate = rest.get(start..).unwrap_or_default();
        let mut found = Deserializer::from_str(candidate).into_iter::<Value>();
        let after = if let Some(Ok(value)) = found.next() {
            values.push(value);
            found.byte_offset()
        } else {
            // Both brackets are one byte.
            1
        };
        rest = candidate.get(after..).unwrap_or_default();
    }
    values
}

/// The member that explains the codes of what was rejected, which are its keys: `cash` there is no amount.
const REASONS: &str = "reasons";

/// The member of a JSON Schema that describes what an object may hold, by name.
const PROPERTIES: &str = "properties";

/// Calls `look` with every key that has a value and every name of a column, without a text, and with every text, under
/// its key. Codes of rejections and what a JSON Schema describes are no keys of values.
pub fn each_member(value: &Value, look: &mut impl FnMut(&str, Option<&str>)) {
    each_below("", value, look);
}

fn each_below(name: &str, value: &Value, look: &mut impl FnMut(&str, Option<&str>)) {
    match value {
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                if name != REASONS && !(name == PROPERTIES && is_schema(value)) {
                    look(key, None);
                }
                each_below(key, value, look);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_below(name, item, look)),
        Value::String(column) if name == "columns" => look(column, None),
        Value::String(text) => look(name, Some(text)),
        Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// Whether a value says what type a value has, and holds none.
fn is_schema(value: &Value) -> bool {
    ["type", "enum"].into_iter().any(|key| value.get(key).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_schema_describes_is_no_key_of_a_value_but_a_value_below_its_name_is() {
        let value = serde_json::json!({ "properties": {
            "orders": { "type": "array", "items": { "properties": { "shares": { "type": "integer", "minimum": 1 } } } },
            "cash": 5,
        } });
        let mut keys = Vec::new();
        each_member(&value, &mut |key, text| {
            if text.is_none() {
                keys.push(key.to_owned());
            }
        });
        assert_eq!(
            keys,
            [
                "properties",
                "cash",
                "items",
                "properties",
                "minimum",
                "type",
                "type"
            ]
        );
    }

    #[test]
    fn keys_columns_and_texts_are_found_wherever_they_stand() {
        let text =
            "STATE:\n{\"a\":{\"columns\":[\"b\"],\"rows\":[[\"c\",1]]},\"n\":null}\nnow [ {\"d\":2} {x} [3]";
        let mut found = Vec::new();
        for value in values_in(text) {
            each_member(&value, &mut |key, text| {
                found.push((key.to_owned(), text.map(str::to_owned)));
            });
        }
        let name = |name: &str| (name.to_owned(), None);
        let rows = ("rows".to_owned(), Some("c".to_owned()));
        assert_eq!(
            found,
            [
                name("a"),
                name("columns"),
                name("b"),
                name("rows"),
                rows,
                name("d")
            ]
        );
    }

    #[test]
    fn a_code_that_is_explained_is_no_key_of_a_value() {
        let value =
            serde_json::json!({"reasons": {"cash": "sell something"}, "cash": null, "held": {"cash": 1}});
        let mut keys = Vec::new();
        each_member(&value, &mut |key, text| {
            keys.extend(text.is_none().then(|| key.to_owned()));
        });
        assert_eq!(keys, ["held", "cash", "reasons"]);
    }
}
