//! The bridge: a transport whose other end is an outside agent.

use super::{AgentTurn, Conversation, SentMessages};
use futures::future::BoxFuture;
use ktd_agents::{Transport, TransportError, WireReply, WireRequest};
use std::sync::{Mutex, PoisonError};

/// An agent outside the harness.
pub trait OutsideAgent: Send + Sync {
    /// Tells the agent what is new in `conversation` and waits for its turn.
    ///
    /// # Errors
    /// [`TransportError`] when no turn came. It is a fault of the infrastructure, never the agent's decision; the
    /// same conversation is told again where that may help.
    fn ask<'a>(&'a self, conversation: &'a Conversation) -> BoxFuture<'a, Result<AgentTurn, TransportError>>;
}

/// Answers Chat Completions requests with the words of an outside agent.
///
/// A submission made during research is kept: the open request is answered by a turn without a tool call, which
/// closes research, and the forced request that follows is answered by the kept submission. So the agent submits
/// once, and the submission is made under the same forced choice as every model's.
#[derive(Debug)]
pub struct BridgeTransport<A> {
    agent: A,
    kept: Mutex<Option<Kept>>,
}

/// A submission that waits for the request it answers.
#[derive(Debug)]
struct Kept {
    turn: AgentTurn,
    said_after: SentMessages,
}

impl<A: OutsideAgent> BridgeTransport<A> {
    /// A bridge to `agent`.
    #[must_use]
    pub const fn new(agent: A) -> Self {
        Self {
            agent,
            kept: Mutex::new(None),
        }
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
        let kept = self
            .exchange(None)
            .filter(|kept| conversation.must_submit && kept.said_after.news(&conversation).is_some());
        let turn = match kept {
            Some(kept) => kept.turn,
            None => self.agent.ask(&conversation).await?,
        };
        let turn = if turn.is_submission() && !conversation.must_submit {
            self.exchange(Some(Kept {
                turn,
                said_after: SentMessages::all(&conversation),
            }));
            AgentTurn::research_is_done()
        } else {
            turn
        };
        Ok(WireReply::new(200, turn.reply(&conversation)))
    }

    fn exchange(&self, kept: Option<Kept>) -> Option<Kept> {
        std::mem::replace(
            &mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner),
            kept,
        )
    }
}

impl<A: OutsideAgent> Transport for BridgeTransport<A> {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        Box::pin(self.answer(request))
    }
}
