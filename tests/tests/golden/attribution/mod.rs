//! Factors, metrics, attribution and statistics against the golden set, made by an independent implementation.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

mod account;
mod factors;
mod metrics;
mod model;
mod set;
mod stats;
