//! The plan of the house, held against the manifests, the lint files, the sources and ARCHITECTURE.md.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a manifest that cannot be read fails the test"
)]

use crate::crates::{CRATES, Crate, FOR_TESTS, OPTIONAL, Power, WITHOUT_POWER};
use crate::sources::{Source, own_sources};
use ktd_kit::workspace_root;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

fn metadata() -> Value {
    // Without --no-deps cargo would fetch what the optional leaf `frames` needs.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(workspace_root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a manifest declares.
#[derive(Default)]
struct Manifest {
    folder: String,
    /// Names of what its code is built with, features of tokio after a slash.
    built_with: BTreeSet<String>,
    /// Names of what its tests are built with besides.
    tested_with: BTreeSet<String>,
}

fn bare(name: &str) -> &str {
    name.strip_prefix("ktd-").unwrap_or(name)
}

/// All manifests of the workspace by the crate's name.
fn manifests() -> BTreeMap<String, Manifest> {
    let root = workspace_root().canonicalize().unwrap();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let path = std::path::Path::new(package["manifest_path"].as_str().unwrap());
            let folder = path.parent().unwrap().strip_prefix(&root).unwrap();
            let mut manifest = Manifest {
                folder: folder.to_string_lossy().replace('\\', "/"),
                ..Manifest::default()
            };
            for dependency in package["dependencies"].as_array().unwrap() {
                manifest.add(dependency);
            }
            (bare(package["name"].as_str().unwrap()).to_owned(), manifest)
        })
        .collect()
}

impl Manifest {
    fn add(&mut self, dependency: &Value) {
        let name = dependency["name"].as_str().unwrap();
        let names = if dependency["kind"] == "dev" {
            &mut self.tested_with
        } else {
            &mut self.built_with
        };
        names.insert(name.to_owned());
        if name == "tokio" {
            let features = dependency["features"].as_array().unwrap().iter();
            names.extend(features.map(|feature| format!("tokio/{}", feature.as_str().unwrap())));
        }
    }
}

/// Crates of ours among names, their prefix off.
fn ours(names: &BTreeSet<String>) -> BTreeSet<&str> {
    names
        .iter()
        .filter_map(|name| name.strip_prefix("ktd-"))
        .collect()
}

fn set(names: &[String]) -> BTreeSet<&str> {
    names.iter().map(String::as_str).collect()
}

#[test]
fn every_crate_has_a_row_and_stands_where_the_row_says() {
    let manifests = manifests();
    let found: BTreeSet<(&str, &str)> = manifests
        .iter()
        .filter(|(name, _)| !FOR_TESTS.contains(&name.as_str()))
        .map(|(name, manifest)| (name.as_str(), manifest.folder.as_str()))
        .collect();
    let listed: BTreeSet<(&str, &str)> = CRATES
        .iter()
        .map(|row| (row.name.as_str(), row.folder.as_str()))
        .collect();
    assert_eq!(
        found, listed,
        "give a new crate a row, and strike that of one that is gone"
    );
}

#[test]
fn crates_know_whom_the_table_names_and_nobody_else() {
    let manifests = manifests();
    for row in CRATES.iter() {
        let Some(manifest) = manifests.get(&row.name) else {
            continue;
        };
        let (found, allowed) = (ours(&manifest.built_with), set(&row.knows));
        assert!(
            found == allowed,
            "{}: may not know {:?}; strike what it does not use: {:?}",
            row.name,
            found.difference(&allowed).collect::<Vec<_>>(),
            allowed.difference(&found).collect::<Vec<_>>()
        );
        let found: BTreeSet<&str> = ours(&manifest.tested_with).difference(&found).copied().collect();
        assert_eq!(found, set(&row.tests_know), "{}: what its tests know", row.name);
    }
}

#[test]
fn only_tests_depend_on_the_tests() {
    for (name, manifest) in manifests() {
        let (built, tested) = (ours(&manifest.built_with), ours(&manifest.tested_with));
        assert!(
            !built.contains("tests") && !tested.contains("tests"),
            "{name} depends on ktd-tests"
        );
        assert!(
            !built.contains("kit"),
            "{name} depends on ktd-kit, which is for tests alone"
        );
    }
}

#[test]
fn a_power_is_held_by_whom_the_table_names_and_used() {
    let manifests = manifests();
    for row in CRATES.iter() {
        let Some(manifest) = manifests.get(&row.name) else {
            continue;
        };
        let sources = own_sources(&row.folder);
        for power in Power::ALL {
            let packages: Vec<&&str> = power
                .packages()
                .iter()
                .filter(|package| manifest.built_with.contains(**package))
                .collect();
            let holds = row.powers.contains(&power);
            assert!(
                packages.is_empty() || holds,
                "{} uses {packages:?} without the power {:?}",
                row.name,
                power.label()
            );
            // The lint files hold whoever has no power; here, that whoever has it uses it.
            assert!(
                !holds || !packages.is_empty() || uses(&sources, power),
                "{} does not use its power {:?}: strike it from the table",
                row.name,
                power.label()
            );
            let is_listed_once = row.powers.iter().filter(|listed| **listed == power).count() <= 1;
            assert!(is_listed_once, "{}: {:?} stands twice", row.name, power.label());
        }
    }
}

/// Whether code that is no test names what a power bans elsewhere.
fn uses(sources: &[Source], power: Power) -> bool {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let code = sources.iter().filter(|source| !source.is_test());
    let mut lines = code.flat_map(|source| source.lines_without_tests().filter(is_code));
    lines.any(|line| power.marks().iter().any(|mark| line.contains(mark)))
}

#[test]
fn every_outside_package_has_a_power_or_is_known_to_have_none() {
    let with_power: BTreeSet<&str> = Power::ALL
        .iter()
        .flat_map(|power| power.packages())
        .copied()
        .collect();
    let mut used = BTreeSet::new();
    for (name, manifest) in manifests() {
        if FOR_TESTS.contains(&name.as_str()) {
            continue;
        }
        let outside = manifest
            .built_with
            .iter()
            .filter(|name| !name.starts_with("ktd-"));
        for package in outside {
            assert!(
                with_power.contains(package.as_str()) || WITHOUT_POWER.contains(&package.as_str()),
                "{name} uses {package}: give it a power, or list it among the packages without one"
            );
            used.insert(package.clone());
        }
    }
    let known = with_power.into_iter().chain(WITHOUT_POWER);
    let idle: Vec<&str> = known.filter(|package| !used.contains(*package)).collect();
    assert!(idle.is_empty(), "no crate uses {idle:?}: strike them");
}

#[test]
fn the_optional_leaf_the_server_and_the_kit_are_not_built_by_default() {
    let metadata = metadata();
    let names = |key: &str| -> Vec<String> {
        let ids = metadata[key].as_array().unwrap();
        ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    };
    let (members, default) = (names("workspace_members"), names("workspace_default_members"));
    let left_out: Vec<&str> = members
        .iter()
        .filter(|id| !default.contains(id))
        .filter_map(|id| id.rsplit_once('/')?.1.split('#').next())
        .collect();
    // The kit is built with the tests that use it, and with nothing else; the server with a feature of the program.
    assert_eq!(
        left_out,
        ["server", "bucket", "kit", OPTIONAL],
        "every other member is tested by default"
    );
}

/// Lines of a crate's own code and of the tests beside it.
fn lines(row: &Crate) -> usize {
    let sources = own_sources(&row.folder);
    sources.iter().map(|source| source.text.lines().count()).sum()
}

/// Of a thousand lines of all crates but those for tests, how many the largest may hold.
const LARGEST_CRATE_PER_MILLE: usize = 150;

#[test]
fn no_crate_holds_more_than_its_part_of_the_source() {
    let sizes: Vec<(&str, usize)> = CRATES.iter().map(|row| (row.name.as_str(), lines(row))).collect();
    let total: usize = sizes.iter().map(|(_, lines)| lines).sum();
    for (name, lines) in sizes {
        assert!(
            lines * 1000 <= total * LARGEST_CRATE_PER_MILLE,
            "{name} has {lines} of {total} lines: give a part of it a room of its own"
        );
    }
}

/// Sources of `probes` that attack, and those that make probes: they share nothing but the text and the names of kinds.
const ATTACKING: [&str; 9] = [
    "attack",
    "clue.rs",
    "column.rs",
    "database.rs",
    "parsed_exhibit.rs",
    "scan.rs",
    "table.rs",
    "tolerance.rs",
    "unknown_content.rs",
];
const MAKING: [&str; 3] = ["make.rs", "plan.rs", "controls.rs"];

#[test]
fn attackers_and_the_maker_of_probes_share_nothing_but_the_text() {
    let root = workspace_root().join("probes/src");
    let modules = |files: &[&str]| -> Vec<String> {
        let names = files.iter().map(|file| file.trim_end_matches(".rs"));
        names.map(|name| format!("crate::{name}")).collect()
    };
    let sources = |file: &str| -> Vec<std::path::PathBuf> {
        let path = root.join(file);
        if path.is_dir() {
            let entries = std::fs::read_dir(path).unwrap();
            return entries.map(|entry| entry.unwrap().path()).collect();
        }
        vec![path]
    };
    for (files, others) in [(&ATTACKING[..], &MAKING[..]), (&MAKING[..], &ATTACKING[..])] {
        for path in files.iter().flat_map(|file| sources(file)) {
            let text = std::fs::read_to_string(&path).unwrap();
            // Tests of an attacker may make probes.
            let own = text.split("#[cfg(test)]").next().unwrap();
            for module in modules(others) {
                let used = format!("{module}::");
                assert!(!own.contains(&used), "{} uses {module}", path.display());
            }
        }
    }
}

/// The files that define a kind of words: what is masked, what is open, and the texts that encoders read.
const KINDS_OF_WORDS: [&str; 3] = [
    "agents/src/wire/text.rs",
    "agents/src/words.rs",
    "agents/unmasked/src/words.rs",
];

/// A kind of its own would let any crate put any text into a conversation.
#[test]
fn no_other_file_defines_a_kind_of_words() {
    // Another name for the trait would hide that it is implemented.
    let is_kind = |line: &str| {
        let line = line.trim_start();
        let is_code = line.starts_with("impl") || line.starts_with("use ") || line.starts_with("pub use ");
        is_code && (line.contains("Words for ") || line.contains("Words as "))
    };
    let sources = CRATES.iter().flat_map(|row| own_sources(&row.folder));
    let defining: BTreeSet<String> = sources
        .filter(|source| source.text.lines().any(is_kind))
        .map(|source| source.path)
        .collect();
    assert_eq!(defining, KINDS_OF_WORDS.map(str::to_owned).into());
}

const PAGE: &str = "ARCHITECTURE.md";
/// What the table of crates stands between.
const MARKS: [&str; 2] = ["<!-- crates: begin -->\n", "<!-- crates: end -->"];
/// How far a count of lines in the page may be off: an edit is not to change the page.
const LINES_OFF_PERCENT: usize = 20;

/// The table of crates as the page shows it; the last cell of a row is its lines, in hundreds.
fn rendered() -> String {
    let mut text = String::from(
        "| crate | folder | may know | must not know | powers | lint file | lines |\n|---|---|---|---|---|---|---|\n",
    );
    for row in CRATES.iter() {
        let knows: Vec<String> = row.knows.iter().map(|name| format!("`{name}`")).collect();
        let powers: Vec<&str> = row.powers.iter().map(|power| power.label()).collect();
        let or = |list: String, none: &str| if list.is_empty() { none.to_owned() } else { list };
        let lint_file = if crate::lint_files::is_strict(row) {
            "strict"
        } else {
            "own"
        };
        let hundreds = lines(row).div_ceil(100) * 100;
        writeln!(
            text,
            "| `{}` | `{}` | {} | {} | {} | {lint_file} | {hundreds} |",
            row.name,
            row.folder,
            or(knows.join(", "), "nothing of ours"),
            row.never,
            or(powers.join(", "), "none")
        )
        .unwrap();
    }
    text
}

/// A row without its last cell, and that cell.
fn split(row: &str) -> (&str, Option<usize>) {
    let cells = row.trim_end_matches([' ', '|']).rsplit_once('|');
    cells.map_or((row, None), |(rest, lines)| (rest, lines.trim().parse().ok()))
}

#[test]
fn the_architecture_page_has_the_same_table() {
    let path = workspace_root().join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(MARKS[0]).unwrap();
    let (shown, after) = rest.split_once(MARKS[1]).unwrap();
    let table = rendered();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1])).unwrap();
        return;
    }
    let verb = "UPDATE=1 cargo test -p ktd-tests --test rules architecture";
    assert_eq!(shown.lines().count(), table.lines().count(), "{PAGE}: {verb}");
    for (shown, computed) in shown.lines().zip(table.lines()) {
        let ((shown, written), (computed, counted)) = (split(shown), split(computed));
        assert_eq!(shown, computed, "{PAGE}: {verb}");
        let (written, counted) = (written.unwrap_or(0), counted.unwrap_or(0));
        assert!(
            written.abs_diff(counted) * 100 <= counted * LINES_OFF_PERCENT,
            "{PAGE}: {written} lines, counted {counted}: {shown}; {verb}"
        );
    }
}

/// The files that the page names in backticks: whole paths, and names of files beside the one named before.
fn named_files(page: &str) -> BTreeSet<&str> {
    let is_file = |text: &&str| {
        let is_source = std::path::Path::new(text)
            .extension()
            .is_some_and(|found| found == "rs");
        is_source && !text.contains(['*', ' ', '{'])
    };
    page.split('`').skip(1).step_by(2).filter(is_file).collect()
}

#[test]
fn the_walks_name_files_that_are_there() {
    let page = std::fs::read_to_string(workspace_root().join(PAGE)).unwrap();
    // Blocks of code have backticks of their own, an even number of them.
    let named = named_files(&page);
    assert!(50 < named.len(), "{} files: those are not the walks", named.len());
    let sources: Vec<Source> = crate::tidy::sources();
    let is_there = |name: &str| {
        let end = format!("/{name}");
        sources
            .iter()
            .any(|source| source.path == name || source.path.ends_with(&end))
    };
    let missing: Vec<&str> = named.into_iter().filter(|name| !is_there(name)).collect();
    assert!(
        missing.is_empty(),
        "{PAGE} names files that are gone: {missing:?}"
    );
}
