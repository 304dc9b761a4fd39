//! Who defines a kind of words: a third kind would let any crate put any text into a conversation.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a source that cannot be read fails the test"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files that define a kind of words: what is masked, what is open, and the texts that encoders read.
const DEFINED_IN: [&str; 3] = [
    "agents/src/wire/text.rs",
    "agents/src/words.rs",
    "unmasked/src/words.rs",
];

/// The Rust sources below `folder`, build folders and hidden ones left out.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            // Cargo tags the folders it builds in, whatever they are called.
            if !name.starts_with('.') && !path.join("CACHEDIR.TAG").exists() && name != "target" {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether code implements the trait, or gives it another name under which it could.
fn defines_a_kind(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| !line.starts_with("//") && (line.contains("Words for ") || line.contains("Words as ")))
}

#[test]
fn no_other_crate_defines_a_kind_of_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    sources(&root, &mut found);
    let this = Path::new(file!()).file_name().unwrap();
    let defining: BTreeSet<String> = found
        .iter()
        .filter(|path| path.file_name() != Some(this))
        .filter(|path| defines_a_kind(&std::fs::read_to_string(path).unwrap()))
        .map(|path| {
            let path = path.strip_prefix(&root).unwrap();
            path.to_string_lossy().replace('\\', "/")
        })
        .collect();
    assert_eq!(defining, DEFINED_IN.map(str::to_owned).into());
}
