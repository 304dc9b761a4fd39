//! What tests share: folders of their own, the program, a vendor on loopback, small episodes, golden sets, and what a
//! machine may lack.
//!
//! Knows: every crate, files, processes, sockets on loopback. Never knows: a test; nothing but tests depends on it.
//! What cannot be set up fails the test that asked for it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::print_stdout,
    missing_debug_implementations,
    reason = "help for tests: what cannot be set up fails the test, and what was drawn is printed with it"
)]

pub mod episode;
pub mod folder;
pub mod golden;
pub mod need;
pub mod program;
pub mod provider;
pub mod vendor;

pub use folder::{Folder, copy, files};
#[cfg(unix)]
pub use folder::{endless_file, named_pipe};
pub use need::Need;
pub use program::{assert_ok, command, ktd, quiet, refused};
pub use vendor::Vendor;

use std::path::{Path, PathBuf};

/// The root of the workspace.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_path_buf()
}
