//! Ladders of planted deviations, each kind of four sizes on every document that has the rule: D1, D2 and D3 fall from size to size, and
//! what the figures of D4 do is shown.
//!
//!     cargo test -p ktd-strategy-code ladder -- --nocapture

mod bench;
mod likeness;
mod reliability;
mod returns;
mod risk;
