//! Places where tests let the program die as if it were killed: nothing is flushed, closed or told.
//!
//! `KTD_CRASH=sent:3` dies at the third passage of the point `sent`. Only a build of this package with debug assertions
//! looks at it, as profile `dev` makes.

/// Whether this build looks at it.
pub const ARE_BUILT: bool = cfg!(debug_assertions);

/// Where the program can be made to die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashPoint {
    /// A request's intent is written; nothing was sent.
    IntentWritten,
    /// The request was on the wire, and its outcome is not written.
    Sent,
    /// The outcome is written, and nothing hangs on it yet.
    OutcomeWritten,
    /// The last event of a step is written.
    StepCommitted,
    /// A set of probes is committed to, and nobody was asked.
    ProbesCommitted,
}

/// Dies here when this is the passage that a test asked for.
#[cfg(debug_assertions)]
#[expect(
    clippy::disallowed_methods,
    reason = "a build with debug assertions dies where a test asks it to through the environment"
)]
pub fn passes(point: CrashPoint) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    static WISH: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);
    let wish = WISH.get_or_init(|| {
        let text = std::env::var("KTD_CRASH").ok()?;
        let (label, passage) = text.split_once(':')?;
        Some((label.to_owned(), passage.parse().ok()?))
    });
    let Some((label, passage)) = wish else {
        return;
    };
    if *label == point.label() && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *passage {
        std::process::abort();
    }
}

/// Nothing, in a build for use.
#[cfg(not(debug_assertions))]
pub const fn passes(_: CrashPoint) {}

#[cfg(debug_assertions)]
impl CrashPoint {
    const fn label(self) -> &'static str {
        match self {
            Self::IntentWritten => "intent",
            Self::Sent => "sent",
            Self::OutcomeWritten => "outcome",
            Self::StepCommitted => "step",
            Self::ProbesCommitted => "committed",
        }
    }
}
