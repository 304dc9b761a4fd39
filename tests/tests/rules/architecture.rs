//! The edges between crates, as ARCHITECTURE.md has them.

#![expect(clippy::unwrap_used, reason = "a manifest that cannot be read fails the test")]

use ktd_kit::workspace_root;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Which crates of ours each may know. A new edge is a decision: a line here and in ARCHITECTURE.md.
const EDGES: [(&str, &[&str]); 14] = [
    ("env", &[]),
    ("qlib", &[]),
    ("masking", &["env"]),
    ("guard", &["env", "masking"]),
    ("prompts", &["masking"]),
    ("agents", &["masking"]),
    ("tools", &["env", "masking"]),
    ("baselines", &["agents", "masking", "tools"]),
    ("unmasked", &["agents", "masking"]),
    ("stats", &[]),
    ("attribution", &["env", "stats"]),
    (
        "probes",
        &["env", "masking", "guard", "prompts", "tools", "agents", "stats"],
    ),
    (
        "runs",
        &[
            "env",
            "qlib",
            "masking",
            "guard",
            "prompts",
            "agents",
            "baselines",
            "tools",
            "attribution",
            "probes",
        ],
    ),
    ("frames", &["env"]),
];

/// Crates that nothing but tests is built with: they may know all, and hold every power.
const FOR_TESTS: [&str; 2] = ["tests", "kit"];

/// Outside crates that carry a power, and who may hold it.
const POWERS: [(&str, &[&str], &[&str]); 6] = [
    (
        "sockets and the runtime",
        &["tokio", "reqwest", "rustls", "async-openai", "hyper"],
        &["agents", "runs"],
    ),
    (
        "entropy, arguments, terminal and files",
        &[
            "getrandom",
            "clap",
            "indicatif",
            "tracing-subscriber",
            "csv",
            "flate2",
            "zstd",
            "parquet",
            "memmap2",
        ],
        &["runs"],
    ),
    (
        "outside agents and their processes",
        &["rmcp", "rustix"],
        &["runs"],
    ),
    ("keys and signatures", &["ring"], &["runs"]),
    ("polars", &["polars"], &["frames"]),
    (
        "serialisation",
        &["serde", "serde_json", "schemars", "toml"],
        &[
            "masking",
            "tools",
            "agents",
            "baselines",
            "unmasked",
            "runs",
            "frames",
            "probes",
            "guard",
        ],
    ),
];

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

/// Names of the dependencies of each crate of ours, its prefix off; `kind` is `null`, `"dev"` or `"build"`.
fn dependencies(metadata: &Value, kinds: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let bare = |name: &Value| name.as_str().unwrap().to_owned();
    let package = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap();
        let names = dependencies
            .iter()
            .filter(|dependency| kinds.contains(&dependency["kind"]))
            .map(|dependency| bare(&dependency["name"]))
            .collect();
        let name = bare(&package["name"]);
        (name.strip_prefix("ktd-").unwrap_or(&name).to_owned(), names)
    };
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(package)
        .collect()
}

fn ours(names: &BTreeSet<String>) -> BTreeSet<&str> {
    names
        .iter()
        .filter_map(|name| name.strip_prefix("ktd-"))
        .collect()
}

#[test]
fn crates_know_only_whom_they_may() {
    let edges: BTreeMap<&str, &[&str]> = EDGES.into();
    let all_kinds = [Value::Null, "dev".into(), "build".into()];
    for (name, dependencies) in dependencies(&metadata(), &all_kinds) {
        if FOR_TESTS.contains(&name.as_str()) {
            continue;
        }
        let known = edges.get(name.as_str()).copied();
        assert!(
            known.is_some(),
            "{name} is a new crate: give it a line in the table of edges"
        );
        let allowed: BTreeSet<&str> = known.unwrap_or_default().iter().copied().collect();
        let surplus: Vec<&str> = ours(&dependencies).difference(&allowed).copied().collect();
        assert!(surplus.is_empty(), "{name} may not know {surplus:?}");
    }
}

#[test]
fn only_tests_depend_on_the_tests() {
    for (name, dependencies) in dependencies(&metadata(), &[Value::Null, "dev".into(), "build".into()]) {
        assert!(!dependencies.contains("ktd-tests"), "{name} depends on ktd-tests");
    }
    for (name, dependencies) in dependencies(&metadata(), &[Value::Null, "build".into()]) {
        assert!(
            !dependencies.contains("ktd-kit"),
            "{name} depends on ktd-kit, which is for tests alone"
        );
    }
}

#[test]
fn powers_stay_where_they_belong() {
    for (name, dependencies) in dependencies(&metadata(), &[Value::Null, "build".into()]) {
        for (power, crates, holders) in POWERS {
            let found: Vec<&&str> = crates
                .iter()
                .filter(|used| dependencies.contains(**used))
                .collect();
            assert!(
                found.is_empty() || holders.contains(&name.as_str()) || FOR_TESTS.contains(&name.as_str()),
                "{name} uses {found:?}, but {power} belong to {holders:?}"
            );
        }
    }
}

#[test]
fn the_optional_leaf_and_the_kit_are_not_built_by_default() {
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
    // The kit is built with the tests that use it, and with nothing else.
    assert_eq!(
        left_out,
        ["kit", "frames"],
        "every other member is tested by default"
    );
}

#[test]
fn the_architecture_text_has_the_same_edges() {
    let text = std::fs::read_to_string(workspace_root().join("ARCHITECTURE.md")).unwrap();
    for (name, known) in EDGES {
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let known = if known.is_empty() {
            "nothing of ours".to_owned()
        } else {
            known.join(", ")
        };
        let row = format!("| `{name}` | {known} |");
        assert!(
            text.contains(&row),
            "ARCHITECTURE.md lacks the row that starts {row:?}"
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
