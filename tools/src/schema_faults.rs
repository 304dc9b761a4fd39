//! From a validator's errors to feedback made of static texts alone.

use crate::args::Dimension;
use crate::fault::Fault;
use crate::feedback_texts::USE_SCHEMA;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use ktd_env::factors::Factor;
use ktd_masking::{Count, Payload, PointerPart};
use serde_json::Value;

/// Every key a tool's arguments may have.
const FIELDS: [&str; 20] = [
    "factors",
    "factor",
    "direction",
    "weight",
    "top_k",
    "bounds",
    "scale",
    "min",
    "max",
    "stock_id",
    "stock_ids",
    "lookback",
    "dimensions",
    "targets",
    "orders",
    "overall_reason",
    "side",
    "shares",
    "confidence",
    "reason",
];
const TARGET_WEIGHT: &str = "target_weight";
const WORDS: [&str; 6] = ["high", "low", "z", "raw", "BUY", "SELL"];

/// The harness's own word equal to a text, if it has one.
fn known(text: &str) -> Option<&'static str> {
    let fields = FIELDS.into_iter().chain([TARGET_WEIGHT]).chain(WORDS);
    fields
        .chain(Factor::ALL.map(Factor::name))
        .chain(Dimension::all().map(Dimension::name))
        .find(|word| *word == text)
}

/// The pointer to where an error is; keys that the model made up end it.
fn pointer(error: &ValidationError<'_>) -> Vec<PointerPart> {
    error
        .instance_path()
        .segments()
        .map_while(|segment| match segment {
            LocationSegment::Index(index) => Some(PointerPart::Index(index)),
            LocationSegment::Property(key) => known(&key).map(PointerPart::Field),
        })
        .collect()
}

/// A validator's error without a word of its message, which would quote the model.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's kinds that our schemas never use share one text"
)]
pub(crate) fn fault(error: &ValidationError<'_>) -> Fault {
    let mut pointer = pointer(error);
    let fault = match error.kind() {
        ValidationErrorKind::Required { property } => {
            pointer.extend(property.as_str().and_then(known).map(PointerPart::Field));
            Fault::new("missing", "a value: the key is required", "add the key")
        }
        ValidationErrorKind::AdditionalProperties { .. } | ValidationErrorKind::FalseSchema => Fault::new(
            "unknown_key",
            "only the keys of the tool's parameters",
            "drop the other keys",
        ),
        ValidationErrorKind::Type { kind } => Fault::new(
            "wrong_type",
            type_name(kind),
            "write numbers without quotes and lists in brackets",
        ),
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten().filter_map(Value::as_str);
            let options = options.filter_map(known).map(Payload::label);
            Fault::new("unknown_value", "one of `allowed`", "copy the word exactly")
                .with("allowed", Payload::list(options))
        }
        ValidationErrorKind::Minimum { limit } => {
            Fault::new("out_of_range", "a number not below `least`", USE_SCHEMA).with("least", number(limit))
        }
        ValidationErrorKind::Maximum { limit } => {
            Fault::new("out_of_range", "a number not above `most`", USE_SCHEMA).with("most", number(limit))
        }
        ValidationErrorKind::MinItems { limit } => {
            Fault::new("too_few", "a longer list", USE_SCHEMA).with("least", length(*limit))
        }
        ValidationErrorKind::MaxItems { limit } => {
            Fault::new("too_many", "a shorter list", USE_SCHEMA).with("most", length(*limit))
        }
        _ => Fault::new(
            "invalid_arguments",
            "arguments that follow the schema",
            USE_SCHEMA,
        ),
    };
    fault.at(pointer)
}

fn type_name(kind: &TypeKind) -> &'static str {
    let TypeKind::Single(kind) = kind else {
        return "another JSON type";
    };
    match kind.as_str() {
        "object" => "a JSON object",
        "array" => "a list",
        "string" => "a text",
        "number" => "a number",
        "integer" => "a whole number, written without a point",
        "boolean" => "true or false",
        _ => "another JSON type",
    }
}

/// A limit of a schema: all of them are whole numbers.
fn number(limit: &Value) -> Payload {
    Payload::optional(limit.as_u64().map(length))
}

fn length(limit: u64) -> Count {
    Count::of(usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of a schema that is missing from the lists above would cut every pointer to it short.
    #[test]
    fn every_key_and_word_of_the_schemas_is_known() {
        fn collect(value: &Value, found: &mut Vec<String>) {
            let Value::Object(members) = value else {
                if let Value::Array(items) = value {
                    for item in items {
                        collect(item, found);
                    }
                }
                return;
            };
            if let Some(Value::Object(properties)) = members.get("properties") {
                found.extend(properties.keys().cloned());
            }
            if let Some(Value::Array(words)) = members.get("enum") {
                found.extend(words.iter().map(|word| word.as_str().unwrap().to_owned()));
            }
            for value in members.values() {
                collect(value, found);
            }
        }
        for tool in crate::tool_specs() {
            let mut found = Vec::new();
            collect(tool.parameters.as_value(), &mut found);
            for word in found {
                assert_eq!(known(&word), Some(word.as_str()), "{}", tool.name);
            }
        }
    }
}
