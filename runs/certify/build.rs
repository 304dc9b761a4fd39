//! Hashes the sources that decide what a certificate says: what masks show, how it is probed, and how it is judged. Two
//! programs with one version number and different sources are told apart by it.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Folders with Rust sources or templates, from the root of the workspace.
const FOLDERS: [&str; 12] = [
    "env/src",
    "env/qlib/src",
    "masking/src",
    "guard/src",
    "tools/src",
    "prompts/src",
    "prompts/templates",
    "prompts/attack",
    "prompts/force_check",
    "probes/src",
    "attribution/stats/src",
    "runs/certify/src",
];
/// Rust sources and templates: nothing that an editor leaves behind.
const EXTENSIONS: [&str; 2] = ["rs", "md"];

fn main() -> std::io::Result<()> {
    let mut cargo = std::io::stdout();
    let mut sources = BTreeMap::new();
    for folder in FOLDERS {
        writeln!(cargo, "cargo::rerun-if-changed=../../{folder}")?;
        collect(folder, &mut sources)?;
    }
    let mut hash = Sha256::new();
    for (name, text) in &sources {
        hash.update(format!("{name} {}\n", text.len()));
        hash.update(text);
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        write!(digits, "{byte:02x}").ok();
    }
    writeln!(cargo, "cargo::rustc-env=KTD_SOURCE_SHA256={digits}")
}

/// The texts below a folder by their names, which have forward slashes on every system.
fn collect(name: &str, found: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(Path::new("../..").join(name))? {
        let entry = entry?;
        let path = entry.path();
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            collect(&name, found)?;
        } else if path
            .extension()
            .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
        {
            // A checkout may have turned line ends into those of its system.
            found.insert(name, std::fs::read_to_string(&path)?.replace("\r\n", "\n"));
        }
    }
    Ok(())
}
