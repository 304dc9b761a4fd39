//! What the tests that cross crates share: where the repository, the golden sets and the real data lie.
//!
//! Golden sets and data are not part of the repository. A test that needs them asks here, says so on standard output
//! when they are absent, and returns.

pub mod sources;

use std::path::{Path, PathBuf};

/// The root of the workspace.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The folder of one golden set: below `KTD_GOLDEN`, or below `../shared/golden`. `None`, told on standard output,
/// where there is none.
#[must_use]
pub fn golden_folder(set: &str) -> Option<PathBuf> {
    folder("KTD_GOLDEN", "golden", set)
}

/// A place in the folder of real panels: below `KTD_DATA`, or below `../shared/data`. `None`, told on standard
/// output, where there is none.
#[must_use]
pub fn data_folder(part: &str) -> Option<PathBuf> {
    folder("KTD_DATA", "data", part)
}

#[expect(clippy::print_stdout, reason = "a skipped comparison is told")]
fn folder(variable: &str, default: &str, part: &str) -> Option<PathBuf> {
    let root = workspace_root();
    // A relative variable counts from the workspace's root, wherever the test runs.
    let base = std::env::var_os(variable).map_or_else(
        || root.join("../shared").join(default),
        |value| root.join(PathBuf::from(value)),
    );
    let folder = base.join(part);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: nothing at {} (set {variable})", folder.display());
    None
}
