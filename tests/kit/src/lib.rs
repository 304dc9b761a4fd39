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
pub mod printed;
pub mod program;
pub mod provider;
mod recorded;
pub mod study;
pub mod vendor;

pub use folder::{Folder, copy, files, shipped_configs};
#[cfg(unix)]
pub use folder::{endless_file, named_pipe};
pub use need::{Need, has_boxes};
pub use program::{assert_ok, command, ktd, quiet, refused, this_program};
pub use recorded::Recorded;
pub use vendor::Vendor;

use std::path::{Path, PathBuf};

/// A mask key as a file holds it, drawn once: the program refuses one that can be guessed.
pub const MASK_KEY: &str = "5c0f3a9be1d27846905fb1c3e7a2d4886b1f09c7d3e5a4f2817c6d0b9e8f7a61";

/// Another one.
pub const OTHER_MASK_KEY: &str = "b7e2490c5d18fa63721e8cd904af3b65e9d0427fc81b56a3f47d2e90186cb53f";

/// The root of the workspace.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_path_buf()
}
