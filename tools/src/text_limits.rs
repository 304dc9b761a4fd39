//! Limits that hold before a model's text is parsed.

use crate::context::ToolLimits;
use crate::fault::{Fault, NOT_JSON};
use crate::feedback_texts::USE_SCHEMA;
use ktd_masking::{Count, JsonExtent};
use serde::de::IgnoredAny;

/// Refuses texts that are too long, too deep or no JSON.
pub(crate) fn check(text: &str, limits: &ToolLimits) -> Result<(), Fault> {
    if limits.max_argument_bytes < text.len() {
        return Err(Fault::new(
            "too_long",
            "a shorter arguments text",
            "shorten reasons and lists",
        )
        .with("max_bytes", Count::of(limits.max_argument_bytes))
        .with("bytes", Count::of(text.len())));
    }
    if limits.max_argument_depth < JsonExtent::of(text.as_bytes()).depth {
        return Err(Fault::new("too_deep", "flat arguments", USE_SCHEMA)
            .with("max_depth", Count::of(limits.max_argument_depth)));
    }
    serde_json::from_str::<IgnoredAny>(text)
        .map(|_| ())
        .map_err(|error| not_json(&error))
}

/// Where a text stops being JSON, without a word of it.
pub(crate) fn not_json(error: &serde_json::Error) -> Fault {
    Fault::new(
        NOT_JSON,
        "one JSON value, complete and without anything after it",
        "double quotes around keys and texts, no comments, no trailing commas, no NaN, no number beyond 1e308",
    )
    .with("line", Count::of(error.line()))
    .with("column", Count::of(error.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_has_its_code() {
        let limits = ToolLimits {
            max_argument_bytes: 40,
            ..ToolLimits::default()
        };
        let code = |text: &str| check(text, &limits).map_err(|fault| fault.code());
        assert_eq!(code(r#"{"a": 1}"#), Ok(()));
        assert_eq!(code(&"x".repeat(41)), Err("too_long"));
        assert_eq!(code(&"[".repeat(17)), Err("too_deep"));
        for text in ["", "{", "{'a': 1}", "{} {}", "NaN", "{\"a\": 1,}"] {
            assert_eq!(code(text), Err("not_json"), "{text}");
        }
    }
}
