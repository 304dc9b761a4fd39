//! What must not compile: every way to carry an identity, or a later day, past the types.
//!
//! The cases stand here and not in the crate `tests` because trybuild builds every dependency of the manifest it runs
//! in, and `masking` and what it knows are all that they need.

#![expect(clippy::print_stdout, reason = "a skipped comparison is printed")]

use std::process::Command;

/// The compiler whose messages the `.stderr` files hold.
const COMPILER: &str = "rustc 1.95.";

#[test]
#[expect(clippy::disallowed_methods, reason = "the compiler is asked for its version")]
fn leaks_and_look_ahead_do_not_compile() {
    let rustc = option_env!("RUSTC").unwrap_or("rustc");
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .map(|output| output.stdout);
    let version = String::from_utf8(version.unwrap_or_default()).unwrap_or_default();
    if !version.starts_with(COMPILER) {
        println!("skipped: the expected messages are those of {COMPILER}x, and this is {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
