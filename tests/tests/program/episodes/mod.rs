//! What episodes promise: nothing looks ahead, the same inputs give the same bytes, a bundle cannot be changed
//! unseen, and faults are counted as what they are.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "a broken fixture fails the test, and what was drawn or skipped is told"
)]

mod branch;
mod by_formula;
mod controls;
mod determinism;
mod faults;
mod force;
mod formula_agent;
mod hostile;
mod ladder;
mod leaks;
mod look_ahead;
mod money;
mod perturb;
mod prefix;
mod prompt_only;
mod proxy;
mod public_totals;
mod relabelled;
mod signals;
mod verify_flips;
