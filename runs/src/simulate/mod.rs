//! `ktd simulate`: orders or scores through an exchange profile, without an agent.

pub mod ktd;
mod orders;
pub mod qlib;
