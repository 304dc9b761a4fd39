//! Batch files: the first requests of all probes as one file for a vendor's batch interface, and its results read back.
//!
//! A batch answers each request once, so that a bad answer has no retry in it: it is unanswered, unless the attacker is
//! asked live afterwards, which continues from what is recorded.

mod form;
mod read;
mod write;

pub use read::{BatchRead, RowError, read_batch};
pub use write::{BatchFile, write_batch};
