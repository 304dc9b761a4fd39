//! Baseline agents. Each is a chat model: it sees the bytes of a request and answers in Chat Completions bytes,
//! so that it passes the same codec, session and mask as a model behind an API.
//!
//! They are functions of the request alone (and of a seed, or of a future given in): no clock, no memory.
//!
//! Knows: `agents` (`Transport` and the bytes that pass it), the names of `tools`. Never knows: markets, masks, sessions,
//! files, clocks.

mod answer;
mod cheater;
mod composite;
mod dice;
mod equal_weight;
mod follower;
mod foresight;
mod hold;
mod identifier;
mod momentum;
mod order;
mod random;
mod recognise;
mod researcher;
mod schema_breaker;
mod seen;

pub use cheater::Cheater;
pub use composite::Composite;
pub use equal_weight::EqualWeight;
pub use follower::{Follower, Plan};
pub use foresight::Foresight;
pub use hold::Hold;
pub use momentum::Momentum;
pub use random::Random;
pub use researcher::Researcher;
pub use schema_breaker::SchemaBreaker;

use futures::future::BoxFuture;
use ktd_agents::{Transport, TransportError, WireReply, WireRequest};
use std::fmt;
use std::sync::Arc;

/// Something that answers as a chat model does.
pub trait ChatModel: Send + Sync {
    /// The Chat Completions response to a Chat Completions request, which is all it sees.
    fn reply(&self, request: &[u8]) -> Vec<u8>;
}

/// The names [`named`] knows.
pub const NAMES: [&str; 7] = [
    "hold",
    "random",
    "equal-weight",
    "momentum",
    "composite",
    "researcher",
    "schema-breaker",
];

/// The built-in agent of this name; `seed` is for those that throw dice. The cheater needs a future: [`Cheater::new`].
#[must_use]
pub fn named(name: &str, seed: u64) -> Option<Arc<dyn ChatModel>> {
    match name {
        "hold" => Some(Arc::new(Hold)),
        "random" => Some(Arc::new(Random::new(seed))),
        "equal-weight" => Some(Arc::new(EqualWeight)),
        "momentum" => Some(Arc::new(Momentum)),
        "composite" => Some(Arc::new(Composite)),
        "researcher" => Some(Arc::new(Researcher)),
        "schema-breaker" => Some(Arc::new(SchemaBreaker)),
        _ => None,
    }
}

/// A [`Transport`] whose other end is a built-in agent.
#[derive(Clone)]
pub struct BuiltinTransport {
    model: Arc<dyn ChatModel>,
}

impl BuiltinTransport {
    /// A transport to `model`.
    #[must_use]
    pub const fn new(model: Arc<dyn ChatModel>) -> Self {
        Self { model }
    }
}

impl fmt::Debug for BuiltinTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BuiltinTransport").finish_non_exhaustive()
    }
}

impl Transport for BuiltinTransport {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        let reply = WireReply::new(200, self.model.reply(request.body()));
        Box::pin(std::future::ready(Ok(reply)))
    }
}

#[cfg(test)]
mod tests;
