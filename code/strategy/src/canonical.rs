//! The canonical text of a card: what two cards share that say the same.

use crate::python_number::card_number;
use crate::strict_json::StrictJson;
use icu_normalizer::ComposingNormalizerBorrowed;
use std::collections::BTreeMap;

/// A text in Unicode normal form C, its runs of white space one blank, none at its ends.
pub(crate) fn canonical_words(text: &str) -> String {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    let is_blank = |character: char| character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character);
    let words: Vec<&str> = composed.split(is_blank).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The canonical text of a value: keys sorted, members whose names begin with `_` left out, numbers in their shortest form.
pub(crate) fn canonical_text(value: &StrictJson) -> String {
    match value {
        StrictJson::Null => "null".to_owned(),
        StrictJson::Bool(value) => value.to_string(),
        StrictJson::Number(value) => card_number(*value),
        StrictJson::Text(text) => quoted(&canonical_words(text)),
        StrictJson::List(items) => {
            let items: Vec<String> = items.iter().map(canonical_text).collect();
            format!("[{}]", items.join(","))
        }
        StrictJson::Map(members) => {
            let members: BTreeMap<String, String> = members
                .iter()
                .filter(|(key, _)| !key.starts_with('_'))
                .map(|(key, value)| (canonical_words(key), canonical_text(value)))
                .collect();
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}:{value}", quoted(key)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    // A text cannot fail to serialise.
    serde_json::to_string(text).unwrap_or_default()
}
