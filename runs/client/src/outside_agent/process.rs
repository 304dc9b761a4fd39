//! An outside agent that is a child process.

use super::child::{Child, ChildCommand, OwnEnd};
use super::line::{self, LineWriter};
use super::{AgentTurn, BridgeTransport, Conversation, OutsideAgent, Steps, TrackedProgress};
use crate::progress::Progress;
use futures::future::BoxFuture;
use ktd_agents::TransportError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;

/// A program that answers lines: started with the first question of an episode, stopped at its end.
///
/// A process that ends, is silent too long or writes an invalid line is stopped, and the question is a fault of the
/// infrastructure. Asked again, a new process is started and told the whole step; one that twice ends by itself before its first
/// answer does not run, and the episode stops until it does.
#[derive(Debug)]
pub struct ProcessAgent {
    command: ChildCommand,
    /// Longest wait for a turn.
    patience: Duration,
    steps: Arc<Steps>,
    running: Mutex<Option<Running>>,
    /// Processes in a row that ended by themselves before their first answer.
    ended_at_once: AtomicU32,
}

#[derive(Debug)]
struct Running {
    child: Child,
    writer: LineWriter,
    has_answered: bool,
}

/// So often a program is started that ends by itself before its first answer: a third time would end like the others.
const STARTS_MAX: u32 = 2;

impl ProcessAgent {
    /// An agent that has not been started.
    #[must_use]
    pub fn new(command: ChildCommand, patience: Duration) -> Self {
        Self {
            command,
            patience,
            steps: Arc::default(),
            running: Mutex::new(None),
            ended_at_once: AtomicU32::new(0),
        }
    }

    /// The transport whose other end it is.
    #[must_use]
    pub const fn bridge(self) -> BridgeTransport<Self> {
        BridgeTransport::new(self)
    }

    /// Where an episode must tell how it goes, on its way to `progress`.
    #[must_use]
    pub fn watched<'a>(&self, progress: &'a dyn Progress) -> TrackedProgress<'a> {
        TrackedProgress::new(Arc::clone(&self.steps), progress)
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

    async fn turn(&self, conversation: &Conversation) -> Result<AgentTurn, TransportError> {
        let mut place = self.running.lock().await;
        let mut running = match place.take() {
            Some(running) => running,
            None => Running {
                child: Child::start(&self.command)?,
                writer: LineWriter::default(),
                has_answered: false,
            },
        };
        let observe = running.writer.observe(conversation, self.steps.now());
        let written = tokio::time::timeout(self.patience, running.child.exchange(&observe)).await;
        let turn = written
            .unwrap_or(Err(TransportError::Timeout))
            .and_then(|line| line::read(&line).map_err(off_protocol));
        match turn {
            Ok(turn) => {
                running.has_answered = true;
                self.ended_at_once.store(0, Ordering::Relaxed);
                *place = Some(running);
                Ok(turn)
            }
            Err(error) => {
                let has_answered = running.has_answered;
                let ended = running.child.stop().await;
                let error = self.with_end(error, ended, has_answered);
                tracing::warn!(code = error.code(), %error, "the agent is stopped");
                Err(error)
            }
        }
    }

    /// The error with how the process ended, where it did by itself; one that never answers is not started for ever.
    fn with_end(&self, error: TransportError, ended: Option<OwnEnd>, has_answered: bool) -> TransportError {
        let (TransportError::Interrupted { detail }, Some(OwnEnd { status, last_line })) = (&error, ended)
        else {
            return error;
        };
        if !has_answered && STARTS_MAX <= self.ended_at_once.fetch_add(1, Ordering::Relaxed) + 1 {
            let between = if last_line.is_empty() { "" } else { ": " };
            return TransportError::NotRunning {
                detail: format!("it ended with {status}{between}{last_line}"),
            };
        }
        tracing::warn!(status, last_line, "the agent ended by itself");
        TransportError::Interrupted {
            detail: format!("{detail} ({status})"),
        }
    }
}

impl OutsideAgent for ProcessAgent {
    fn ask<'a>(&'a self, conversation: &'a Conversation) -> BoxFuture<'a, Result<AgentTurn, TransportError>> {
        Box::pin(self.turn(conversation))
    }
}

fn off_protocol(error: super::AgentTurnError) -> TransportError {
    TransportError::Interrupted {
        detail: format!("the agent's line is invalid: {error}"),
    }
}
