//! Values of two documents that differ, each with its place.

use crate::StudyError;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// Value that differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DifferentValue {
    /// Where it stands, such as `keys.rounds`.
    pub place: String,
    /// The first study's; left out where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Value>,
    /// The second study's; left out where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Value>,
}

/// Where two values differ, and in what.
pub(crate) fn different_values<T: Serialize>(
    first: &T,
    second: &T,
) -> Result<Vec<DifferentValue>, StudyError> {
    let mut found = Vec::new();
    compare(
        "",
        (Some(&to_value(first)?), Some(&to_value(second)?)),
        &mut |value| found.push(value),
    );
    Ok(found)
}

/// Where two documents differ, in a sentence of which the first values stand for many.
pub(crate) fn told_differences<T: Serialize>(first: &T, second: &T) -> Result<String, StudyError> {
    const SHOWN: usize = 4;
    let found = different_values(first, second)?;
    let mut told: Vec<String> = found.iter().take(SHOWN).map(ToString::to_string).collect();
    match found.len().saturating_sub(SHOWN) {
        0 => {}
        more => told.push(format!("and {more} more")),
    }
    Ok(told.join("; "))
}

impl fmt::Display for DifferentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told =
            |value: &Option<Value>| shown_text(value.as_ref()).unwrap_or_else(|| "not there".to_owned());
        write!(
            f,
            "`{}` was {} and is {}",
            self.place,
            told(&self.first),
            told(&self.second)
        )
    }
}

impl DifferentValue {
    /// Whether it is a hash in both: it tells that bytes differ, and no figure.
    pub(crate) fn is_of_hashes(&self) -> bool {
        let is_hash = |value: &Option<Value>| {
            let text = value.as_ref().and_then(Value::as_str);
            text.is_some_and(|text| text.len() == 64 && text.bytes().all(|letter| letter.is_ascii_hexdigit()))
        };
        is_hash(&self.first) && is_hash(&self.second)
    }
}

/// Tells of each value that differs, in the order of its place.
pub(crate) fn compare(
    place: &str,
    values: (Option<&Value>, Option<&Value>),
    tell: &mut impl FnMut(DifferentValue),
) {
    let below = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    match values {
        (Some(Value::Object(first)), Some(Value::Object(second))) => {
            let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
            for name in names {
                compare(&below(name), (first.get(name), second.get(name)), tell);
            }
        }
        (Some(Value::Array(first)), Some(Value::Array(second))) => {
            for number in 0..first.len().max(second.len()) {
                compare(
                    &below(&number.to_string()),
                    (first.get(number), second.get(number)),
                    tell,
                );
            }
        }
        (first, second) if first != second => tell(DifferentValue {
            place: place.to_owned(),
            first: first.cloned(),
            second: second.cloned(),
        }),
        _ => {}
    }
}

/// A value in few words; a long one is cut.
pub(crate) fn shown_text(value: Option<&Value>) -> Option<String> {
    const LETTERS: usize = 40;
    let text = value?
        .as_str()
        .map_or_else(|| value.map(Value::to_string), |text| Some(text.to_owned()))?;
    let cut: String = text.chars().take(LETTERS).collect();
    Some(if cut == text { text } else { format!("{cut}...") })
}

fn to_value<T: Serialize>(value: &T) -> Result<Value, StudyError> {
    serde_json::to_value(value)
        .map_err(|error| StudyError::input(format_args!("what is compared is no JSON: {error}"), ""))
}
