//! Orders or scores through either exchange profile, without an agent.
//!
//! Knows: the exchange, the profile of Qlib, panel files. Never knows: a mask, a model, a record.

mod error;
pub mod ktd;
mod orders;
mod profile;
pub mod qlib;
mod unknown_symbols;

pub use error::SimulateError;
pub use profile::{Profile, read_profile};
pub use unknown_symbols::MissedStock;
