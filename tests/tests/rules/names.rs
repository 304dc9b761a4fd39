//! The names of public types: one thing a name, and no metaphors.

use crate::crates::CRATES;
use crate::sources::own_sources;
use std::collections::BTreeMap;

/// Words that are no terms of the field.
const NO_TERMS: [&str; 6] = ["Told", "Said", "Heard", "Seen", "Beside", "Mend"];

const KINDS: [&str; 5] = ["struct ", "enum ", "trait ", "type ", "union "];

/// The public type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let rest = KINDS.iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    // A macro's text has a parameter in the place of the name.
    (!name.is_empty()).then_some(name)
}

/// The public types of all crates but those for tests, each with the files that declare it.
fn public_types() -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in CRATES.iter() {
        for source in own_sources(&row.folder).iter().filter(|source| !source.is_test()) {
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

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let types = public_types();
    let shared = types.iter().filter(|(_, places)| 1 < places.len());
    let shared: BTreeMap<_, _> = shared.collect();
    assert!(
        shared.is_empty(),
        "one name for two public types, rename one: {shared:#?}"
    );
}

/// Whether a word of a name in camel case begins with a word that is no term.
fn is_no_term(name: &str) -> bool {
    NO_TERMS.iter().any(|word| name.contains(word))
}

#[test]
fn a_public_type_is_named_by_a_term() {
    let types = public_types();
    let without = types.iter().filter(|(name, _)| is_no_term(name));
    let without: BTreeMap<_, _> = without.collect();
    assert!(
        without.is_empty(),
        "names that are no terms of the field: {without:#?}"
    );
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
