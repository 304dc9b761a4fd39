//! Factor functions written by models: definitions, accuracy and verdicts against the golden set `alpha_qt`, which
//! pandas and a literal evaluator of the definitions made. A file that the set lacks is passed over with a word.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

mod columns;
mod definitions;
mod endings;
mod over_engineered;
mod replies;
mod variants;
