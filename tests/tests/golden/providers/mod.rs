//! The wires against recorded exchanges with real vendors and against faults seen in the wild.
//!
//! Replies are read by the wire and, independently, from their JSON by the test; requests are lifted into our own
//! types and must encode to what was recorded.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

mod chat;
mod faults;
mod gemini;
mod lift;
mod messages;
mod prices;
mod recorded;
mod responses;
mod said;
