//! Tools and prompts as a model sees them: snapshots at every level, and what must never show.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

mod banded;
mod fixture;
mod ladder;
mod properties;
mod scheme;
mod semantics;
mod snapshots;
