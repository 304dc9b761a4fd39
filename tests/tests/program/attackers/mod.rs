//! Language models as attackers, over scripted and built-in models: answers, mistakes, resuming, the guard.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a broken fixture fails the test, and what is skipped is told"
)]

mod answers;
mod commands;
mod configs;
mod leaks;
mod resuming;
mod scene;
mod scripted;
