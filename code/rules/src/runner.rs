//! The trusted program inside the box, compiled in.

use crate::source::hex_sha256;

/// Its text. Read by Python alone.
pub const RUNNER: &str = include_str!("../runner/runner.py");

/// The hash of its text.
#[must_use]
pub fn runner_sha256() -> String {
    hex_sha256(RUNNER.as_bytes())
}
