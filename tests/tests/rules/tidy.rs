//! Rules of the house that a compiler does not check: lengths, banned text, lint files, what is committed.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a repository that cannot be read fails the test, and near misses are told"
)]

use crate::sources::{Function, Source, functions, rust_sources};
use ktd_kit::golden::golden_root;
use ktd_kit::need::data_root;
use ktd_kit::{Need, workspace_root};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's manifest, whose members are the folders with sources.
fn manifest() -> toml::Table {
    let text = std::fs::read_to_string(workspace_root().join("Cargo.toml")).unwrap();
    text.parse().unwrap()
}

pub(crate) fn members() -> Vec<String> {
    let manifest = manifest();
    let members = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("members"));
    let members = members.and_then(toml::Value::as_array).unwrap();
    members
        .iter()
        .filter_map(|member| member.as_str().map(str::to_owned))
        .collect()
}

pub(crate) fn sources() -> Vec<Source> {
    rust_sources(&workspace_root(), &members())
}

/// Files that git would commit, or `None` (told) outside a clone.
fn committed() -> Option<Vec<String>> {
    if !Need::GitClone.is_met() {
        return None;
    }
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(workspace_root())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let files = text.split('\0').filter(|path| !path.is_empty());
    Some(
        files
            .map(str::to_owned)
            .filter(|path| workspace_root().join(path).is_file())
            .collect(),
    )
}

/// Clippy stops code at 70 lines; with its comments a function may take no more than this.
const FUNCTION_LINES_MAX: usize = 80;
/// Functions longer than 50 lines, of a thousand. Lower it when the print-out allows; never raise it.
const LONG_FUNCTIONS_PER_MILLE: usize = 15;
const LONG_FUNCTION_LINES: usize = 50;

#[test]
fn functions_are_short() {
    let mut all: Vec<(String, Function)> = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let found = functions(source.lines_without_tests());
        all.extend(found.into_iter().map(|function| (source.path.clone(), function)));
    }
    all.sort_by_key(|(_, function)| std::cmp::Reverse(function.lines));
    let long: Vec<_> = all
        .iter()
        .take_while(|(_, function)| LONG_FUNCTION_LINES < function.lines)
        .collect();
    for (path, function) in &long {
        println!(
            "{path}:{}: {} lines: {}",
            function.line, function.lines, function.signature
        );
    }
    println!(
        "{} of {} functions have more than {LONG_FUNCTION_LINES} lines",
        long.len(),
        all.len()
    );
    let longest = long.first().map_or(0, |(_, function)| function.lines);
    assert!(
        longest <= FUNCTION_LINES_MAX,
        "a function of {longest} lines (listed above)"
    );
    assert!(
        long.len() * 1000 <= all.len() * LONG_FUNCTIONS_PER_MILLE,
        "too many functions of more than {LONG_FUNCTION_LINES} lines (listed above)"
    );
}

/// Lines of a source file before its tests.
const FILE_LINES_MAX: usize = 450;
/// Longer files, with the lines they may take and why they are one file.
const LONG_FILES: [(&str, usize, &str); 2] = [
    (
        "env/src/market/builder.rs",
        650,
        "rows to columns in one pass: what a row may be and what it becomes are read together",
    ),
    (
        "env/src/panel_check.rs",
        560,
        "one report: each finding stands beside the pass that counts it",
    ),
];

#[test]
fn files_are_short() {
    let mut excused: BTreeMap<&str, usize> = LONG_FILES
        .iter()
        .map(|(path, lines, _)| (*path, *lines))
        .collect();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let lines = source.lines_without_tests().count();
        let excuse = excused.remove(source.path.as_str());
        let allowed = excuse.unwrap_or(FILE_LINES_MAX);
        assert!(
            lines <= allowed,
            "{}: {lines} lines before its tests, at most {allowed}",
            source.path
        );
        assert!(
            excuse.is_none() || FILE_LINES_MAX < lines,
            "{} is short again: strike it from the list of long files",
            source.path
        );
    }
    assert!(excused.is_empty(), "no such file: {excused:?}");
}

/// Text that no source may have, and what to do instead. Joined from halves, so that this file passes its own test.
const BANNED: [(&str, &str, &str); 16] = [
    ("todo", "!", "finish it, or leave it out"),
    ("unimplemented", "!", "finish it, or leave it out"),
    (
        "#[ig",
        "nore",
        "a test runs or is deleted; what needs outside files asks for them and skips",
    ),
    ("#[should_", "panic", "assert on the error"),
    ("#[al", "low(", "use #[expect(lint, reason = \"...\")]"),
    ("#![al", "low(", "use #![expect(lint, reason = \"...\")]"),
    ("FIX", "ME", "fix it, or open an issue"),
    ("X", "XX", "fix it, or open an issue"),
    ("TO", "DO", "do it, or open an issue"),
    ("\u{2f}work", "/", "paths are relative to the workspace"),
    (
        "\u{2f}root",
        "/",
        "paths are relative to the workspace or come from the environment",
    ),
    (
        "\u{2f}home",
        "/",
        "a path of the machine that it was made on: make it relative",
    ),
    (
        "\u{2f}Users",
        "/",
        "a path of the machine that it was made on: make it relative",
    ),
    ("\u{2f}tmp", "/", "ask for a temporary directory"),
    ("index.crates", ".io", "registries are cargo's business"),
    ("static.crates", ".io", "registries are cargo's business"),
];

#[test]
fn banned_text_is_absent() {
    let Some(files) = committed() else { return };
    for path in files.iter().filter(|path| *path != "Cargo.lock") {
        let bytes = std::fs::read(workspace_root().join(path)).unwrap();
        // A picture may hold a path too, in what its maker wrote about it.
        let text = String::from_utf8_lossy(&bytes);
        for (head, tail, instead) in BANNED {
            let banned = format!("{head}{tail}");
            let line = text.lines().position(|line| line.contains(&banned));
            let line = line.map(|line| line + 1);
            assert!(
                line.is_none(),
                "{path}:{}: {banned:?}: {instead}",
                line.unwrap_or(0)
            );
        }
    }
}

/// The pages of rules that a text cites by their path, each with the anchor where one part of it is meant.
fn citations(text: &str) -> Vec<(String, Option<String>)> {
    let folder = ["docs", "/spec/"].concat();
    let word = |part: &str| -> String {
        part.chars()
            .take_while(|character| character.is_ascii_alphanumeric() || *character == '-')
            .collect()
    };
    let mut found = Vec::new();
    for rest in text.split(&folder).skip(1) {
        let file = word(rest);
        let Some(after) = rest[file.len()..].strip_prefix(".md") else {
            continue;
        };
        let anchor = after
            .strip_prefix('#')
            .map(word)
            .filter(|anchor| !anchor.is_empty());
        found.push((file, anchor));
    }
    found
}

#[test]
fn every_cited_rule_is_in_the_repository() {
    let Some(files) = committed() else { return };
    let mut cited = 0;
    for path in &files {
        let Ok(text) = std::fs::read_to_string(workspace_root().join(path)) else {
            continue;
        };
        for (file, anchor) in citations(&text) {
            let rules = ["docs", "/spec/", &file, ".md"].concat();
            let page = std::fs::read_to_string(workspace_root().join(&rules));
            let page = page.unwrap_or_else(|_| panic!("{path}: cites {rules}, which is missing"));
            let has = anchor
                .as_ref()
                .is_none_or(|anchor| page.contains(&format!("<a id=\"{anchor}\">")));
            assert!(has, "{path}: {rules} has no anchor {anchor:?}");
            cited += 1;
        }
    }
    assert!(0 < cited, "no source cites a rule");
}

/// What a reviewer can look at without reading it.
const PICTURES: [&str; 1] = ["png"];

#[test]
fn every_file_is_text_or_a_picture() {
    let Some(files) = committed() else { return };
    for path in files {
        let bytes = std::fs::read(workspace_root().join(&path)).unwrap();
        let is_picture = PICTURES.iter().any(|kind| path.ends_with(&format!(".{kind}")));
        let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
        assert!(
            is_text || is_picture,
            "{path} is neither text nor a picture: remove it"
        );
    }
}

#[test]
fn every_template_is_compiled_in() {
    let root = workspace_root();
    let prompts: Vec<Source> = sources()
        .into_iter()
        .filter(|source| source.path.starts_with("prompts/src/") && !source.is_test())
        .collect();
    let mentions = |name: &str| prompts.iter().any(|source| source.text.contains(name));
    for entry in std::fs::read_dir(root.join("prompts/templates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            mentions(&format!("include_str!(\"../templates/{name}.md\")")),
            "prompts/templates/{name}.md is compiled in by nothing in prompts/src"
        );
    }
}

#[test]
fn every_crate_says_what_it_knows() {
    for member in members().iter().filter(|member| *member != "tests") {
        let path = workspace_root().join(member).join("src/lib.rs");
        let text = std::fs::read_to_string(&path).unwrap();
        let docs: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let docs = docs.join("\n");
        for words in ["Knows", "Never knows"] {
            assert!(
                docs.contains(words),
                "{member}/src/lib.rs: its docs do not say {words:?}"
            );
        }
    }
}

const COMMITTED_BYTES_MAX: u64 = 1_000_000;

#[test]
fn nothing_large_is_committed() {
    let Some(files) = committed() else { return };
    for path in files {
        let bytes = std::fs::metadata(workspace_root().join(&path)).unwrap().len();
        assert!(
            bytes <= COMMITTED_BYTES_MAX,
            "{path} has {bytes} bytes, at most {COMMITTED_BYTES_MAX}"
        );
    }
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn hash(path: &Path) -> [u8; 32] {
    Sha256::digest(std::fs::read(path).unwrap()).into()
}

#[test]
fn no_foreign_data_is_committed() {
    let Some(committed) = committed() else { return };
    let mut foreign = Vec::new();
    if Need::RealPanels.is_met() {
        files_below(&data_root(), &mut foreign);
    }
    if Need::Golden("providers").is_met() {
        foreign.push(golden_root().join("providers/recorded.jsonl.gz"));
    }
    let mut by_size: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
    for path in foreign.into_iter().filter(|path| path.is_file()) {
        by_size
            .entry(std::fs::metadata(&path).unwrap().len())
            .or_default()
            .push(path);
    }
    for path in committed {
        let own = workspace_root().join(&path);
        let same_size = by_size.get(&std::fs::metadata(&own).unwrap().len());
        for foreign in same_size.into_iter().flatten() {
            assert!(
                hash(&own) != hash(foreign),
                "{path} is a copy of {}",
                foreign.display()
            );
        }
    }
}
