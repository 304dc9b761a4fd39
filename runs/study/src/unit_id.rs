//! The name of a unit.

use crate::StudyError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Name of a unit in plain words, which is the name of its folder: letters, digits, `-`, `_` and `.`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct UnitId(String);

impl UnitId {
    /// The name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can name a folder.
    pub(crate) fn check(&self) -> Result<(), StudyError> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if !self.0.is_empty() && !self.0.starts_with('.') && self.0.chars().all(is_part) {
            return Ok(());
        }
        Err(StudyError::input(
            format_args!("the unit {:?} cannot name a folder", self.0),
            "name agents, windows and pools with letters, digits, `-`, `_` and `.`",
        ))
    }
}

impl From<String> for UnitId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl AsRef<str> for UnitId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for UnitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a unit came to, typed.
pub(crate) fn of_raw<F: DeserializeOwned>(id: &UnitId, found: &RawValue) -> Result<F, StudyError> {
    serde_json::from_str(found.get()).map_err(|error| {
        StudyError::difference(
            format_args!("the record of {id} cannot be read: {error}"),
            "it was changed: take it from whoever made it, or run the study into another folder",
        )
    })
}

/// The most names that a sentence holds.
const NAMES_SHOWN: usize = 12;
/// The most letters that they have: a table whose cells are longer leaves them out.
const LETTERS_SHOWN: usize = 140;

/// Names of units in a sentence, of which the first stand for many.
pub(crate) fn some_names(ids: &[impl AsRef<str>]) -> String {
    let mut letters = 0;
    let fits = |id: &&str| {
        letters += id.chars().count() + 2;
        letters <= LETTERS_SHOWN
    };
    let names = || ids.iter().map(AsRef::as_ref);
    let fitting = names().take(NAMES_SHOWN).take_while(fits).count().max(1);
    let shown: Vec<&str> = names().take(fitting).collect();
    let more = match ids.len().saturating_sub(fitting) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}
