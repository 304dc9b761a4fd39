//! `ktd simulate`: orders or scores through an exchange profile, without an agent.

pub mod ktd;
mod orders;
mod profile;
pub mod qlib;

pub use profile::{Profile, read_profile};
