//! Learners and the one-switch benchmark against the golden set `leakage`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

mod learners;
