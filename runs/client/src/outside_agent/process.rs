//! An outside agent that is a child process.

use super::child::Child;
use super::child::ChildCommand;
use super::line::{self, Heard};
use super::{BridgeTransport, Conversation, OutsideAgent, Steps, Watched, Word};
use crate::progress::Progress;
use futures::future::BoxFuture;
use ktd_agents::TransportError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// A program that answers lines: started with the first question of an episode, stopped at its end.
///
/// A process that ends, is silent too long or says what is no word is stopped, and the question is a fault of the
/// infrastructure. Asked again, a new process is started and told the whole step.
#[derive(Debug)]
pub struct ProcessAgent {
    command: ChildCommand,
    /// Longest wait for a word.
    patience: Duration,
    steps: Arc<Steps>,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    heard: Heard,
}

impl ProcessAgent {
    /// An agent that has not been started.
    #[must_use]
    pub fn new(command: ChildCommand, patience: Duration) -> Self {
        Self {
            command,
            patience,
            steps: Arc::default(),
            running: Mutex::new(None),
        }
    }

    /// The transport whose other end it is.
    #[must_use]
    pub const fn bridge(self) -> BridgeTransport<Self> {
        BridgeTransport::new(self)
    }

    /// Where an episode must tell how it goes, on its way to `progress`.
    #[must_use]
    pub fn watched<'a>(&self, progress: &'a dyn Progress) -> Watched<'a> {
        Watched::new(Arc::clone(&self.steps), progress)
    }

    /// Ends the process, if one runs: with a goodbye when the episode is complete, at once when it is not.
    pub async fn close(&self, is_complete: bool) {
        let Some(running) = self.running.lock().await.take() else {
            return;
        };
        if is_complete {
            running.child.farewell(&line::end(self.steps.now())).await;
        } else {
            running.child.stop().await;
        }
    }

    async fn word(&self, conversation: &Conversation) -> Result<Word, TransportError> {
        let mut place = self.running.lock().await;
        let mut running = match place.take() {
            Some(running) => running,
            None => Running {
                child: Child::start(&self.command)?,
                heard: Heard::default(),
            },
        };
        let observe = running.heard.observe(conversation, self.steps.now());
        let heard = tokio::time::timeout(self.patience, running.child.exchange(&observe)).await;
        let word = heard
            .unwrap_or(Err(TransportError::Timeout))
            .and_then(|line| line::read(&line).map_err(off_protocol));
        match word {
            Ok(word) => {
                *place = Some(running);
                Ok(word)
            }
            Err(error) => {
                tracing::warn!(code = error.code(), %error, "the agent is stopped");
                running.child.stop().await;
                Err(error)
            }
        }
    }
}

impl OutsideAgent for ProcessAgent {
    fn ask<'a>(&'a self, conversation: &'a Conversation) -> BoxFuture<'a, Result<Word, TransportError>> {
        Box::pin(self.word(conversation))
    }
}

fn off_protocol(error: super::WordError) -> TransportError {
    TransportError::Interrupted {
        detail: format!("the agent's line is no word of the protocol: {error}"),
    }
}
