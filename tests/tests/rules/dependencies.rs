//! What the workspace depends on: everything that is declared is used, under licences and from sources that
//! `deny.toml` allows, one version of each package.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a manifest that cannot be read fails the test"
)]

use crate::sources::{Source, rust_sources};
use ktd_kit::workspace_root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use toml::{Table, Value};

fn table(path: impl AsRef<Path>) -> Table {
    let path = workspace_root().join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap()
}

fn strings(values: &Value) -> impl Iterator<Item = &str> {
    values
        .as_array()
        .unwrap()
        .iter()
        .map(|value| value.as_str().unwrap())
}

fn members() -> Vec<String> {
    let manifest = table("Cargo.toml");
    strings(&manifest["workspace"]["members"])
        .map(str::to_owned)
        .collect()
}

/// Dependencies that no source names, and why they are declared.
const NAMED_NOWHERE: [(&str, &str, &str); 11] = [
    (
        "tests",
        "ktd-cli",
        "its `main.rs` is the program that tests start, in a folder of its own",
    ),
    ("tests/kit", "async-trait", AS_THE_SERVER),
    ("tests/kit", "base64", AS_THE_SERVER),
    ("tests/kit", "digest", AS_THE_SERVER),
    ("tests/kit", "either", AS_THE_SERVER),
    ("tests/kit", "futures-io", AS_THE_SERVER),
    ("tests/kit", "futures-util", AS_THE_SERVER),
    ("tests/kit", "rand", AS_THE_SERVER),
    ("tests/kit", "reqwest", AS_THE_SERVER),
    ("tests/kit", "ring", AS_THE_SERVER),
    ("tests/kit", "tracing", AS_THE_SERVER),
];
const AS_THE_SERVER: &str =
    "turns on features as the server's parts do, so that the gate builds what both need once";

/// Packages of the workspace's table that no crate declares, and why they stand there.
const DECLARED_NOWHERE: [(&str, &str); 0] = [];

/// Names declared in a section of a manifest, for every target.
fn declared(manifest: &Table, section: &str) -> BTreeSet<String> {
    let mut sections: Vec<&Value> = manifest.get(section).into_iter().collect();
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(Table::values);
    sections.extend(targets.filter_map(|target| target.get(section)));
    let tables = sections.into_iter().filter_map(Value::as_table);
    tables.flat_map(Table::keys).cloned().collect()
}

/// Whether code names a crate: `name::`, or `use name;`, and not as a module of something else.
fn names(code: &str, name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    code.match_indices(name).any(|(place, _)| {
        let (before, after) = (&code[..place], &code[place + name.len()..]);
        let is_whole = !before.ends_with(is_part);
        is_whole && (after.starts_with("::") || (before.ends_with("use ") && !after.starts_with(is_part)))
    })
}

/// Macros of this workspace whose text names a dependency of the crate that calls them.
const NAMED_BY_MACROS: [(&str, &str); 1] = [("ktd_io::edge_error!", "thiserror")];

/// Whether code calls a macro whose text names a dependency.
fn calls_for(code: &str, name: &str) -> bool {
    let mut own = NAMED_BY_MACROS
        .iter()
        .filter(|(_, dependency)| *dependency == name);
    own.any(|(call, _)| code.contains(call))
}

/// The code of a crate by the kind of dependency that it may name: normal, dev, build.
struct Code {
    normal: String,
    dev: String,
    build: String,
}

impl Code {
    /// The code in a member's folder, that of members below it left out.
    fn of(member: &str, members: &[String]) -> Self {
        let below = |path: &str| {
            members.iter().any(|other| {
                let is_inner = other.starts_with(&format!("{member}/"));
                is_inner && path.starts_with(&format!("{other}/"))
            })
        };
        let mut code = Self {
            normal: String::new(),
            dev: String::new(),
            build: String::new(),
        };
        let sources = rust_sources(&workspace_root(), &[member.to_owned()]);
        for source in sources.iter().filter(|source| !below(&source.path)) {
            code.add(source, &source.path[member.len() + 1..]);
        }
        code
    }

    /// Adds a file by its path in the member's folder.
    fn add(&mut self, source: &Source, path: &str) {
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let lines = source.text.lines().filter(|line| !is_comment(line));
        if path == "build.rs" {
            self.build.extend(lines.flat_map(|line| [line, "\n"]));
        } else if path.starts_with("src/") && !path.ends_with("tests.rs") && !path.contains("/tests/") {
            // Test modules stand at the end of their files.
            let mut is_test = false;
            for line in lines {
                is_test |= line.starts_with("#[cfg(test)]");
                let code = if is_test { &mut self.dev } else { &mut self.normal };
                code.push_str(line);
                code.push('\n');
            }
        } else {
            self.dev.extend(lines.flat_map(|line| [line, "\n"]));
        }
    }
}

#[test]
fn every_dependency_is_used() {
    let members = members();
    let mut excused: BTreeSet<(String, String)> = NAMED_NOWHERE
        .iter()
        .map(|(member, name, _)| ((*member).to_owned(), (*name).to_owned()))
        .collect();
    let mut unused = Vec::new();
    for member in &members {
        let manifest = table(format!("{member}/Cargo.toml"));
        let code = Code::of(member, &members);
        let kinds = [
            ("dependencies", &code.normal),
            ("dev-dependencies", &code.dev),
            ("build-dependencies", &code.build),
        ];
        for (section, code) in kinds {
            for name in declared(&manifest, section) {
                let is_named = names(code, &name.replace('-', "_")) || calls_for(code, &name);
                let is_excused = !is_named && excused.remove(&(member.clone(), name.clone()));
                if !is_named && !is_excused {
                    unused.push(format!("{member}: {name} in {section}"));
                }
            }
        }
    }
    assert!(unused.is_empty(), "named by no code of their kind: {unused:#?}");
    assert!(excused.is_empty(), "used or not declared: {excused:?}");
}

/// A crate whose sources were not hashed could change and leave two programs with one name.
#[test]
fn the_hash_of_the_program_covers_every_crate_that_it_is_built_of() {
    let script = std::fs::read_to_string(workspace_root().join("runs/program/build.rs")).unwrap();
    let (_, list) = script.split_once("const CRATES").unwrap();
    let (list, _) = list.split_once("];").unwrap();
    let covered: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let for_tests = ["tests", "tests/kit", "frames"];
    for member in members() {
        let is_covered = covered
            .iter()
            .any(|folder| member == *folder || member.starts_with(&format!("{folder}/")));
        assert_eq!(is_covered, !for_tests.contains(&member.as_str()), "{member}");
    }
}

#[test]
fn every_package_of_the_workspace_is_declared_by_a_crate() {
    let manifest = table("Cargo.toml");
    let listed = manifest["workspace"]["dependencies"].as_table().unwrap();
    let mut declared_somewhere = BTreeSet::new();
    for member in members() {
        let manifest = table(format!("{member}/Cargo.toml"));
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            declared_somewhere.extend(declared(&manifest, section));
        }
    }
    let idle = listed.keys().filter(|name| !declared_somewhere.contains(*name));
    let idle: BTreeSet<&str> = idle.map(String::as_str).collect();
    let excused: BTreeSet<&str> = DECLARED_NOWHERE.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        idle, excused,
        "remove what no crate declares, and excuses that are stale"
    );
}

/// A package of the lock file.
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    is_checked: bool,
}

fn locked() -> Vec<Locked> {
    let lock = table("Cargo.lock");
    let text = |package: &Value, key: &str| package.get(key).and_then(Value::as_str).map(str::to_owned);
    let packages = lock["package"].as_array().unwrap().iter();
    packages
        .map(|package| Locked {
            name: text(package, "name").unwrap(),
            version: text(package, "version").unwrap(),
            source: text(package, "source"),
            is_checked: package.get("checksum").is_some(),
        })
        .collect()
}

#[test]
fn packages_come_from_one_registry_with_their_hashes() {
    let mut registries = BTreeSet::new();
    for package in locked() {
        let Some(source) = package.source else {
            assert!(
                package.name.starts_with("ktd-"),
                "{} is a folder that is no crate of ours",
                package.name
            );
            continue;
        };
        assert!(
            source.starts_with("registry+"),
            "{} comes from {source}",
            package.name
        );
        assert!(package.is_checked, "{} has no hash in Cargo.lock", package.name);
        registries.insert(source);
    }
    assert_eq!(registries.len(), 1, "{registries:?}");
}

#[test]
fn second_versions_of_a_package_have_a_reason() {
    let deny = table("deny.toml");
    let mut skipped: BTreeSet<String> = BTreeSet::new();
    for entry in deny["bans"]["skip"].as_array().unwrap() {
        let package = entry["crate"].as_str().unwrap().to_owned();
        let reason = entry["reason"].as_str().unwrap();
        assert!(!reason.is_empty(), "deny.toml: {package} has no reason");
        assert!(
            skipped.insert(package.clone()),
            "deny.toml: {package} stands twice"
        );
    }
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in locked() {
        versions.entry(package.name).or_default().push(package.version);
    }
    for (name, versions) in versions.into_iter().filter(|(_, versions)| 1 < versions.len()) {
        let unexcused: Vec<&String> = versions
            .iter()
            .filter(|version| !skipped.remove(&format!("{name}@{version}")))
            .collect();
        assert_eq!(
            unexcused.len(),
            1,
            "of {name} {versions:?} all but one are to stand in deny.toml, with the reason"
        );
    }
    assert!(
        skipped.is_empty(),
        "deny.toml: there is no second version of {skipped:?}"
    );
}

/// Whether the allowed licences are enough for an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`.
fn is_licensed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let expression = expression.replace('/', " OR ");
    let expression = expression.replace(['(', ')'], " ");
    let words: Vec<&str> = expression.split_whitespace().collect();
    // No expression here nests deeper than alternatives in brackets that are joined by AND.
    let joined = words.join(" ");
    joined
        .split(" AND ")
        .all(|all| all.split(" OR ").any(|one| allowed.contains(one)))
}

/// Name with version, and the licence, of every package that a build or a test compiles on this machine.
fn licences() -> Vec<(String, String)> {
    // `cargo tree` asks for the default members alone: what `frames` needs may not have been downloaded.
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--edges",
            "normal,build,dev",
            "--prefix",
            "none",
        ])
        .args(["--format", "{p}\t{l}"])
        .current_dir(workspace_root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: BTreeSet<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let pair = |line: &str| {
        let (package, licence) = line.split_once('\t').unwrap_or((line, ""));
        (
            package.to_owned(),
            licence.trim_end_matches("(*)").trim().to_owned(),
        )
    };
    lines.into_iter().map(pair).collect()
}

#[test]
fn licences_are_allowed_and_needed() {
    let deny = table("deny.toml");
    let allowed: BTreeSet<&str> = strings(&deny["licenses"]["allow"]).collect();
    let packages = licences();
    assert!(
        100 < packages.len(),
        "{} packages: that is not the tree",
        packages.len()
    );
    for (package, licence) in &packages {
        assert!(is_licensed(licence, &allowed), "{package} is under {licence:?}");
    }
    for licence in &allowed {
        let fewer: BTreeSet<&str> = allowed.iter().copied().filter(|other| other != licence).collect();
        assert!(
            packages
                .iter()
                .any(|(_, expression)| !is_licensed(expression, &fewer)),
            "deny.toml: every package can do without {licence}"
        );
    }
}

#[test]
fn names_and_licences_are_read_as_they_are_meant() {
    for code in [
        "use csv::Reader;",
        "    csv::Reader::new()",
        "use csv;",
        "#[derive(csv::Row)]",
    ] {
        assert!(names(code, "csv"), "{code}");
    }
    for code in [
        "crate::csv::Row",
        "use mycsv::Row;",
        "csv_rows::read()",
        "\"csv\"",
        "use csv_core;",
    ] {
        assert!(!names(code, "csv"), "{code}");
    }
    let allowed = BTreeSet::from(["MIT", "Unicode-3.0"]);
    for expression in [
        "MIT",
        "MIT/Apache-2.0",
        "Apache-2.0 OR MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(is_licensed(expression, &allowed), "{expression}");
    }
    for expression in [
        "",
        "Apache-2.0",
        "MIT AND GPL-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(!is_licensed(expression, &allowed), "{expression}");
    }
}
