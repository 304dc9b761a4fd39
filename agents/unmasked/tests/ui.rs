//! What must not compile: every way to carry text from outside a mask into a conversation of an episode.

#![expect(clippy::print_stdout, reason = "a skipped comparison is reported")]
#![expect(
    clippy::disallowed_methods,
    reason = "the version of the compiler is asked for"
)]

use std::process::Command;

/// The compiler whose messages the `.stderr` files hold.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn outside_text_in_a_masked_conversation_does_not_compile() {
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
