//! The names of public types: one thing a name, and no metaphors.

use crate::crates::CRATES;
use crate::sources::own_sources;
use std::collections::{BTreeMap, BTreeSet};

/// Names that still stand for more than one public type. The list only ever gets shorter.
const SHARED: [&str; 18] = [
    "Account",
    "Basis",
    "Cell",
    "Ended",
    "Fill",
    "Holding",
    "InputError",
    "Metrics",
    "Outcome",
    "PanelError",
    "Place",
    "Point",
    "Series",
    "Shares",
    "Side",
    "Spread",
    "StepOutcome",
    "Window",
];

/// Public types that still have a name with one of [`NO_TERMS`]. The list only ever gets shorter.
const WITHOUT_TERM: [&str; 1] = ["Told"];

/// Words that are no terms of the field.
const NO_TERMS: [&str; 6] = ["Told", "Said", "Heard", "Seen", "Beside", "Mend"];

const KINDS: [&str; 5] = ["struct ", "enum ", "trait ", "type ", "union "];

/// The public type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let rest = KINDS.iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_');
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// The public types of all crates but those for tests, each with the files that declare it.
fn public_types() -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in CRATES {
        for source in own_sources(row.folder).iter().filter(|source| !source.is_test()) {
            for name in source.lines_without_tests().filter_map(declared) {
                types
                    .entry(name.to_owned())
                    .or_default()
                    .push(source.path.clone());
            }
        }
    }
    assert!(500 < types.len(), "{} types: those are not all", types.len());
    types
}

/// Holds what was found against a list of what is left to do.
fn compare(found: BTreeMap<&str, &Vec<String>>, listed: &[&'static str], what: &str) {
    let mut left: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(left.len(), listed.len(), "a name stands twice in the list");
    let new: BTreeMap<_, _> = found.into_iter().filter(|(name, _)| !left.remove(name)).collect();
    assert!(new.is_empty(), "{what}: {new:#?}");
    assert!(left.is_empty(), "strike from the list what is done: {left:?}");
}

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let types = public_types();
    let shared = types.iter().filter(|(_, places)| 1 < places.len());
    let shared = shared.map(|(name, places)| (name.as_str(), places)).collect();
    compare(shared, &SHARED, "one name for two public types: rename one");
}

/// Whether a word of a name in camel case begins with a word that is no term.
fn is_no_term(name: &str) -> bool {
    NO_TERMS.iter().any(|word| name.contains(word))
}

#[test]
fn a_public_type_is_named_by_a_term() {
    let types = public_types();
    let without = types.iter().filter(|(name, _)| is_no_term(name));
    let without = without.map(|(name, places)| (name.as_str(), places)).collect();
    compare(without, &WITHOUT_TERM, "a name that is no term of the field");
}

#[test]
fn declarations_and_words_are_read_as_they_are_meant() {
    assert_eq!(declared("pub struct Told<'a> {"), Some("Told"));
    assert_eq!(declared("    pub type Price = u8;"), Some("Price"));
    assert_eq!(declared("pub enum Six"), Some("Six"));
    assert_eq!(declared("pub(crate) struct Own;"), None);
    assert_eq!(declared("pub fn told()"), None);
    for name in ["Told", "WhatWasSaid", "UnseenHeard", "MendedRow"] {
        assert!(is_no_term(name), "{name}");
    }
    for name in ["Unseen", "Aforesaid", "Price"] {
        assert!(!is_no_term(name), "{name}");
    }
}
