//! An outside agent that is a child process.

use super::child::{Child, ChildCommand};
use super::line::{self, Heard};
use super::{BridgeTransport, Conversation, OutsideAgent, Steps, Watched, Word};
use crate::bundle::BundlePaths;
use crate::bundle::summary::Summary;
use crate::episode::{EpisodeInput, Progress, run_episode};
use crate::error::RunError;
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

    /// Runs an episode with this agent in the place of a model, or continues it; the process is gone afterwards.
    ///
    /// # Errors
    /// [`RunError`] as [`run_episode`]'s.
    pub async fn run_episode(
        self,
        input: &EpisodeInput<'_>,
        paths: &BundlePaths,
        progress: &dyn Progress,
    ) -> Result<Summary, RunError> {
        let steps = Arc::clone(&self.steps);
        let bridge = BridgeTransport::new(self);
        let watched = Watched::new(Arc::clone(&steps), progress);
        let result = run_episode(input, paths, &bridge, &watched).await;
        if let Some(running) = bridge.agent().running.lock().await.take() {
            match &result {
                Ok(_) => running.child.farewell(&line::end(steps.now())).await,
                Err(_) => running.child.stop().await,
            }
        }
        result
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
