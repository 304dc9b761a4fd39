//! Where an outside agent that calls and an engine that asks meet.

use super::{Conversation, OutsideAgent, Steps, Word};
use futures::future::BoxFuture;
use ktd_agents::TransportError;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc, watch};

/// What became of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// It ended, and its bundle is finished.
    Finished,
    /// It stopped before its end; its owner is told why.
    Stopped,
}

#[derive(Debug, Clone)]
enum Status {
    /// The engine is at work.
    Working,
    /// The engine waits for a word.
    Open(Arc<Conversation>),
    Over(Over),
}

/// One word at a time: the engine lays down a question, the agent's side takes it and lays down a word.
#[derive(Debug)]
pub struct Desk {
    status: watch::Sender<Status>,
    words: mpsc::Sender<Word>,
    heard: Mutex<mpsc::Receiver<Word>>,
    steps: Arc<Steps>,
}

impl Desk {
    /// A desk of an engine at work.
    #[must_use]
    pub fn new(steps: Arc<Steps>) -> Self {
        let (words, heard) = mpsc::channel(1);
        Self {
            status: watch::Sender::new(Status::Working),
            words,
            heard: Mutex::new(heard),
            steps,
        }
    }

    /// Where the episode is.
    #[must_use]
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// The question that waits for a word, as soon as there is one.
    ///
    /// # Errors
    /// [`Over`] when no more will come.
    pub async fn question(&self) -> Result<Arc<Conversation>, Over> {
        let mut status = self.status.subscribe();
        let settled = status.wait_for(|status| !matches!(status, Status::Working)).await;
        match settled.as_deref() {
            Ok(Status::Open(conversation)) => Ok(Arc::clone(conversation)),
            Ok(Status::Over(over)) => Err(*over),
            Ok(Status::Working) | Err(_) => Err(Over::Stopped),
        }
    }

    /// Answers the open question. The next [`Self::question`] is what came of it.
    pub async fn say(&self, word: Word) {
        self.status.send_replace(Status::Working);
        // The receiver lives as long as the desk.
        self.words.send(word).await.ok();
    }

    /// Tells that no more questions will come.
    pub fn close(&self, over: Over) {
        self.status.send_replace(Status::Over(over));
    }

    async fn word(&self, conversation: &Conversation) -> Result<Word, TransportError> {
        let mut heard = self.heard.lock().await;
        self.status
            .send_replace(Status::Open(Arc::new(conversation.clone())));
        heard.recv().await.ok_or(TransportError::NotSent {
            detail: "the agent's side is gone".to_owned(),
        })
    }
}

impl OutsideAgent for Arc<Desk> {
    fn ask<'a>(&'a self, conversation: &'a Conversation) -> BoxFuture<'a, Result<Word, TransportError>> {
        Box::pin(self.word(conversation))
    }
}
