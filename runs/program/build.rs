//! Hashes the sources of the program: all that it is built from, and those that decide what a certificate says. Two programs
//! with one version number and different sources are told apart by them. Neither a clock nor an absolute path goes in.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The crates of the program, from the root of the workspace; a crate's folder holds those below it. A test compares
/// them with the crates that the program is built of.
const CRATES: [&str; 11] = [
    "env",
    "masking",
    "prompts",
    "agents",
    "tools",
    "attribution",
    "probes",
    "formulas",
    "leakage",
    "code",
    "runs",
];
/// What all crates are built by.
const FILES: [&str; 3] = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml"];
/// Folders of a crate that are no part of the program.
const NO_PROGRAM: [&str; 4] = ["tests", "benches", "examples", "target"];
/// Rust sources and the texts that are compiled in: nothing that an editor leaves behind.
const EXTENSIONS: [&str; 11] = [
    "rs", "md", "toml", "txt", "css", "js", "py", "lock", "json", "jsonl", "sql",
];
/// What masks show, how it is probed, and how it is judged: Rust sources and templates.
const MASK_FOLDERS: [&str; 12] = [
    "env/src",
    "env/qlib/src",
    "masking/src",
    "masking/guard/src",
    "tools/src",
    "prompts/src",
    "prompts/templates",
    "prompts/attack",
    "prompts/force_check",
    "probes/src",
    "attribution/stats/src",
    "runs/certify/src",
];
const MASK_EXTENSIONS: [&str; 2] = ["rs", "md"];

/// Texts by their names from the root, which have forward slashes on every system.
type Sources = BTreeMap<String, String>;

fn main() -> std::io::Result<()> {
    let mut cargo = std::io::stdout();
    let mut sources = Sources::new();
    for name in FILES {
        sources.insert(name.to_owned(), text(name)?);
        writeln!(cargo, "cargo::rerun-if-changed=../../{name}")?;
    }
    for folder in CRATES {
        collect(folder, &mut sources)?;
        writeln!(cargo, "cargo::rerun-if-changed=../../{folder}")?;
    }
    let of_masks = sources
        .iter()
        .filter(|(name, _)| decides_masks(name))
        .map(|(name, text)| (name.as_str(), text.as_str()));
    writeln!(
        cargo,
        "cargo::rustc-env=KTD_MASK_SOURCE_SHA256={}",
        hash(of_masks)
    )?;
    let all = sources.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    writeln!(cargo, "cargo::rustc-env=KTD_SOURCE_SHA256={}", hash(all))
}

fn decides_masks(name: &str) -> bool {
    let is_below = |folder: &&str| {
        name.strip_prefix(*folder)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    MASK_FOLDERS.iter().any(is_below) && has_extension(Path::new(name), &MASK_EXTENSIONS)
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    path.extension()
        .is_some_and(|extension| known.iter().any(|known| extension == *known))
}

fn hash<'s>(sources: impl Iterator<Item = (&'s str, &'s str)>) -> String {
    let mut hash = Sha256::new();
    for (name, text) in sources {
        hash.update(format!("{name} {}\n", text.len()));
        hash.update(text);
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        write!(digits, "{byte:02x}").ok();
    }
    digits
}

/// A text from the root of the workspace; a checkout may have turned line ends into those of its system.
#[expect(
    clippy::disallowed_methods,
    reason = "a build script reads the sources; the crate itself reads no file"
)]
fn text(name: &str) -> std::io::Result<String> {
    let path = Path::new("../..").join(name);
    Ok(std::fs::read_to_string(path)?.replace("\r\n", "\n"))
}

/// The texts of a crate's program.
#[expect(
    clippy::disallowed_methods,
    reason = "a build script reads the sources; the crate itself reads no file"
)]
fn collect(folder: &str, found: &mut Sources) -> std::io::Result<()> {
    for entry in std::fs::read_dir(Path::new("../..").join(folder))? {
        let entry = entry?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let name = format!("{folder}/{file_name}");
        let path = entry.path();
        if path.is_dir() {
            if !NO_PROGRAM.contains(&file_name.as_str()) {
                collect(&name, found)?;
            }
        } else if has_extension(&path, &EXTENSIONS) {
            found.insert(name.clone(), text(&name)?);
        }
    }
    Ok(())
}
