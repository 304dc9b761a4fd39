//! Attribution against the golden set, made by an independent implementation: factor model, accounting, linking.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

mod account;
mod golden;
mod model;
