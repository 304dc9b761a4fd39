//! Where an outside agent that calls and an engine that asks meet.

use super::{AgentTurn, Conversation, OutsideAgent, Steps};
use futures::future::BoxFuture;
use ktd_agents::TransportError;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc, watch};

/// What became of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpisodeEnd {
    /// It ended, and its bundle is finished.
    Finished,
    /// It stopped before its end; its owner gets the reason.
    Stopped,
}

#[derive(Debug, Clone)]
enum Status {
    /// The engine is at work.
    Working,
    /// The engine waits for a turn.
    Open(Arc<Conversation>),
    Over(EpisodeEnd),
}

/// One turn at a time: the engine puts a question, the agent's side takes it and puts its turn.
#[derive(Debug)]
pub struct AgentMailbox {
    status: watch::Sender<Status>,
    turns: mpsc::Sender<AgentTurn>,
    received: Mutex<mpsc::Receiver<AgentTurn>>,
    steps: Arc<Steps>,
}

impl AgentMailbox {
    /// The mailbox of an engine at work.
    #[must_use]
    pub fn new(steps: Arc<Steps>) -> Self {
        let (turns, received) = mpsc::channel(1);
        Self {
            status: watch::Sender::new(Status::Working),
            turns,
            received: Mutex::new(received),
            steps,
        }
    }

    /// Where the episode is.
    #[must_use]
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// The question that waits for a turn, as soon as there is one.
    ///
    /// # Errors
    /// [`EpisodeEnd`] when no more will come.
    pub async fn question(&self) -> Result<Arc<Conversation>, EpisodeEnd> {
        let mut status = self.status.subscribe();
        let settled = status.wait_for(|status| !matches!(status, Status::Working)).await;
        match settled.as_deref() {
            Ok(Status::Open(conversation)) => Ok(Arc::clone(conversation)),
            Ok(Status::Over(over)) => Err(*over),
            Ok(Status::Working) | Err(_) => Err(EpisodeEnd::Stopped),
        }
    }

    /// Answers the open question. The next [`Self::question`] is what came of it.
    pub async fn answer(&self, turn: AgentTurn) {
        self.status.send_replace(Status::Working);
        // The receiver lives as long as the mailbox.
        self.turns.send(turn).await.ok();
    }

    /// Says that no more questions will come.
    pub fn close(&self, over: EpisodeEnd) {
        self.status.send_replace(Status::Over(over));
    }

    async fn turn(&self, conversation: &Conversation) -> Result<AgentTurn, TransportError> {
        let mut received = self.received.lock().await;
        self.status
            .send_replace(Status::Open(Arc::new(conversation.clone())));
        received.recv().await.ok_or(TransportError::NotSent {
            detail: "the agent's side is gone".to_owned(),
        })
    }
}

impl OutsideAgent for Arc<AgentMailbox> {
    fn ask<'a>(&'a self, conversation: &'a Conversation) -> BoxFuture<'a, Result<AgentTurn, TransportError>> {
        Box::pin(self.turn(conversation))
    }
}
