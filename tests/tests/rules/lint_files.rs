//! The lint files: one strict file at the root, and for each crate that holds a power the same less what that power needs.

#![expect(
    clippy::unwrap_used,
    reason = "a lint file that cannot be read fails the test"
)]

use crate::crates::{CRATES, Crate, OPTIONAL, Power};
use ktd_kit::workspace_root;
use std::collections::BTreeSet;
use std::path::Path;

const STRICT: &str = "clippy.toml";
const HEADER: &str = "# The strict lint file at the root less the entries of powers that this crate holds, written by\n\
                      # `UPDATE=1 cargo test -p ktd-tests --test rules`. Change that file, or the table in crates.rs.\n";
/// The folder of tests and of their kit, which may do what any crate may.
const TESTS: &str = "tests";

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(workspace_root().join(path)).unwrap()
}

/// The banned path of an entry, where a line is one.
fn entry(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("{ path = \"")?;
    rest.split_once('"').map(|(path, _)| path)
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(entry)
}

/// Whether a crate falls under the strict file: no entry of it belongs to one of its powers.
pub(crate) fn is_strict(row: &Crate) -> bool {
    let strict = read(STRICT);
    row.name != OPTIONAL && !entries(&strict).any(|path| row.powers.iter().any(|power| power.bans(path)))
}

/// The lint file of a folder whose crates hold powers.
fn lifted(strict: &str, powers: &[Power]) -> String {
    let is_kept = |line: &&str| {
        let is_lifted = entry(line).is_some_and(|path| powers.iter().any(|power| power.bans(path)));
        !is_lifted && !line.starts_with('#')
    };
    let lines = strict.lines().filter(is_kept);
    lines.fold(HEADER.to_owned(), |text, line| text + line + "\n")
}

#[test]
fn a_lint_file_lifts_what_the_powers_of_its_crate_need_and_nothing_else() {
    let strict = read(STRICT);
    let update = std::env::var_os("UPDATE").is_some();
    let lax = CRATES.iter().filter(|row| !is_strict(row));
    let mut folders: Vec<(&str, Vec<Power>)> =
        lax.map(|row| (row.folder.as_str(), row.powers.clone())).collect();
    // Tests do what any crate may; so do the examples of the optional leaf.
    for (folder, powers) in &mut folders {
        if *folder == OPTIONAL {
            *powers = Power::ALL.to_vec();
        }
    }
    // Clippy takes the nearest file: below a folder whose file is lax, a strict crate needs one of its own.
    let is_below = |row: &&Crate| {
        let mut lax = folders.iter().map(|(folder, _)| *folder);
        lax.any(|folder| {
            row.folder
                .strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let below: Vec<&Crate> = CRATES
        .iter()
        .filter(|row| is_strict(row))
        .filter(is_below)
        .collect();
    folders.extend(
        below
            .into_iter()
            .map(|row| (row.folder.as_str(), row.powers.clone())),
    );
    folders.push((TESTS, Power::ALL.to_vec()));
    for (folder, powers) in &folders {
        let (path, expected) = (format!("{folder}/{STRICT}"), lifted(&strict, powers));
        if update {
            std::fs::write(workspace_root().join(&path), &expected).unwrap();
        }
        let found = std::fs::read_to_string(workspace_root().join(&path)).unwrap_or_default();
        assert!(
            found == expected,
            "{path} is not the strict file less the powers of its crate: UPDATE=1 cargo test -p ktd-tests --test rules"
        );
    }
    let expected: BTreeSet<&str> = folders.iter().map(|(folder, _)| *folder).collect();
    let members = crate::tidy::members();
    let found = members.iter().map(String::as_str);
    let found: BTreeSet<&str> = found
        .filter(|member| workspace_root().join(member).join(STRICT).is_file())
        .collect();
    assert_eq!(found, expected, "remove the lint file of a crate that needs none");
    assert!(
        !workspace_root().join("runs").join(STRICT).exists(),
        "a lint file of `runs` would lift rules for all crates below it"
    );
}

#[test]
fn every_power_over_banned_functions_has_entries_in_the_strict_file() {
    let strict = read(STRICT);
    for power in Power::ALL.into_iter().filter(|power| !power.marks().is_empty()) {
        assert!(
            entries(&strict).any(|path| power.bans(path)),
            "{STRICT} bans nothing of {:?}",
            power.label()
        );
    }
    let mut seen = BTreeSet::new();
    for path in entries(&strict) {
        assert!(seen.insert(path), "{STRICT}: {path} stands twice");
        let owners = Power::ALL.into_iter().filter(|power| power.bans(path)).count();
        assert!(owners <= 1, "{path} belongs to two powers");
    }
}
