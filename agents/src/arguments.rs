//! The arguments of a tool call, measured and checked once when a reply is decoded.

use ktd_masking::JsonExtent;
use serde::de::IgnoredAny;
use std::fmt;
use std::ops::Deref;

/// Longest arguments that are parsed, in bytes. Orders and reasons need a hundredth of it.
pub const ARGUMENTS_BYTES_MAX: usize = 256 * 1024;
/// Deepest nesting of arguments that are parsed, in levels.
pub const ARGUMENTS_DEPTH_MAX: usize = 32;
/// Most values in arguments that are parsed.
pub const ARGUMENTS_ITEMS_MAX: usize = 20_000;

/// The text of a call's arguments, with what it turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    text: String,
    form: ArgumentsForm,
}

/// What a text of arguments is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArgumentsForm {
    /// One JSON object.
    Object,
    /// Anything else.
    Malformed,
    /// A text beyond the limits on bytes, depth and values, which was not parsed.
    TooLarge,
}

impl Arguments {
    /// Measures and checks `text`.
    pub(crate) fn read(text: String) -> Self {
        let form = if is_beyond_limits(&text) {
            ArgumentsForm::TooLarge
        } else if is_object(&text) {
            ArgumentsForm::Object
        } else {
            ArgumentsForm::Malformed
        };
        Self { text, form }
    }

    /// The raw text, which need not be JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What the text is.
    #[must_use]
    pub const fn form(&self) -> ArgumentsForm {
        self.form
    }

    /// Whether the text is one JSON object.
    #[must_use]
    pub const fn is_object(&self) -> bool {
        matches!(self.form, ArgumentsForm::Object)
    }
}

impl Deref for Arguments {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<&str> for Arguments {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Limits come before parsing.
fn is_beyond_limits(text: &str) -> bool {
    let extent = JsonExtent::of(text.as_bytes());
    ARGUMENTS_BYTES_MAX < text.len()
        || ARGUMENTS_DEPTH_MAX < extent.depth
        || ARGUMENTS_ITEMS_MAX < extent.items
}

/// Whether `text` is one JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_before_parsing() {
        let form = |text: &str| Arguments::read(text.to_owned()).form();
        assert_eq!(form(r#"{"a":[1]}"#), ArgumentsForm::Object);
        assert_eq!(form("[1]"), ArgumentsForm::Malformed);
        assert_eq!(form("{'a':1}"), ArgumentsForm::Malformed);
        let nested = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        assert_eq!(form(&nested(ARGUMENTS_DEPTH_MAX)), ArgumentsForm::Object);
        assert_eq!(form(&nested(ARGUMENTS_DEPTH_MAX + 1)), ArgumentsForm::TooLarge);
        assert_eq!(
            form(&",".repeat(ARGUMENTS_ITEMS_MAX + 1)),
            ArgumentsForm::TooLarge
        );
        assert_eq!(
            form(&" ".repeat(ARGUMENTS_BYTES_MAX + 1)),
            ArgumentsForm::TooLarge
        );
    }
}
