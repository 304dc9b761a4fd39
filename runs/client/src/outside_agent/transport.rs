//! The bridge: a transport whose other end is an outside agent.

use super::{AgentTurn, Conversation};
use futures::future::BoxFuture;
use ktd_agents::{Transport, TransportError, WireReply, WireRequest};

/// An agent outside the harness.
pub trait OutsideAgent: Send + Sync {
    /// Tells the agent what is new in `conversation` and waits for its turn.
    ///
    /// # Errors
    /// [`TransportError`] when no turn came. It is a fault of the infrastructure, never the agent's decision; the
    /// same conversation is told again where that may help.
    fn ask<'a>(&'a self, conversation: &'a Conversation) -> BoxFuture<'a, Result<AgentTurn, TransportError>>;
}

/// Answers Chat Completions requests with the words of an outside agent, as they come: what an early submission is worth, the
/// session says, as of any model's.
#[derive(Debug)]
pub struct BridgeTransport<A> {
    agent: A,
}

impl<A: OutsideAgent> BridgeTransport<A> {
    /// A bridge to `agent`.
    #[must_use]
    pub const fn new(agent: A) -> Self {
        Self { agent }
    }

    /// The agent at its other end.
    #[must_use]
    pub const fn agent(&self) -> &A {
        &self.agent
    }

    async fn answer(&self, request: &WireRequest) -> Result<WireReply, TransportError> {
        let conversation = Conversation::read(request.body()).map_err(|error| TransportError::NotSent {
            detail: format!("an outside agent hears Chat Completions alone: {error}"),
        })?;
        let turn = self.agent.ask(&conversation).await?;
        Ok(WireReply::new(200, turn.reply(&conversation)))
    }
}

impl<A: OutsideAgent> Transport for BridgeTransport<A> {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        Box::pin(self.answer(request))
    }
}
