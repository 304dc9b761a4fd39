//! One way to ask a model: transports, keys and rates, budget, recorded exchanges, outside agents.
//!
//! Knows: the record, wires and transports, the guard, clock and sockets. Never knows: a market, a mask's key, or what is
//! submitted.

pub mod ask;
mod asked_model;
pub mod cache_folder;
mod cap_reached;
pub mod conversations;
pub mod endpoint;
mod error;
pub mod force_check;
pub mod money;
mod nothing_hidden;
pub mod opening;
pub mod outside_agent;
pub mod progress;
pub mod spent;
pub mod wire_check;

pub use asked_model::AskedModel;
pub use error::ClientError;
pub use money::{Payer, PricedAgent};
pub use nothing_hidden::NothingHidden;
