//! What episodes promise: nothing looks ahead, the same inputs give the same bytes, a bundle cannot be changed
//! unseen, and faults are counted as what they are.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

mod bench;
mod determinism;
mod faults;
mod leaks;
mod look_ahead;
mod perturb;
mod provider;
mod verify_flips;
