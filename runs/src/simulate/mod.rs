//! `ktd simulate`: a scripted order file through the exchange, without an agent.

pub mod ktd;
mod orders;
