//! An outside agent that is a child process.

use super::child::{Child, ChildCommand, OwnEnd};
use super::last_words::last_line;
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
/// infrastructure. Asked again, a new process is started and told the whole step; one that twice ends by itself, or writes another
/// line, before its first answer does not run, and the episode stops until it does.
#[derive(Debug)]
pub struct ProcessAgent {
    command: ChildCommand,
    /// Longest wait for a turn.
    patience: Duration,
    steps: Arc<Steps>,
    running: Mutex<Option<Running>>,
    /// Processes in a row that ended by themselves, or wrote something else, before their first answer.
    failed_at_once: AtomicU32,
}

#[derive(Debug)]
struct Running {
    child: Child,
    writer: LineWriter,
    has_answered: bool,
}

/// So often a program is started that fails before its first answer: a third time would end like the others.
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
            failed_at_once: AtomicU32::new(0),
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
        let mut wrong_line = None;
        let turn = written.unwrap_or(Err(TransportError::Timeout)).and_then(|line| {
            line::read(&line).map_err(|error| {
                wrong_line = Some(line);
                off_protocol(error)
            })
        });
        match turn {
            Ok(turn) => {
                running.has_answered = true;
                self.failed_at_once.store(0, Ordering::Relaxed);
                *place = Some(running);
                Ok(turn)
            }
            Err(error) => {
                let has_answered = running.has_answered;
                let ended = running.child.stop().await;
                let error = self.with_end(error, (ended, wrong_line), has_answered);
                tracing::warn!(code = error.code(), %error, "the agent is stopped");
                Err(error)
            }
        }
    }

    /// The error with how the process ended, where it did by itself; one that never answers is not started for ever.
    fn with_end(
        &self,
        error: TransportError,
        (ended, wrong_line): (Option<OwnEnd>, Option<Vec<u8>>),
        has_answered: bool,
    ) -> TransportError {
        let TransportError::Interrupted { detail } = &error else {
            return error;
        };
        let why = match (&wrong_line, &ended) {
            (Some(line), _) => format!(
                "it wrote {:?}, which is no line of the protocol; on standard output it answers, and says all else on standard error",
                last_line(line)
            ),
            (None, Some(OwnEnd { status, last_line })) => {
                let between = if last_line.is_empty() { "" } else { ": " };
                format!("it ended with {status}{between}{last_line}")
            }
            (None, None) => return error,
        };
        if !has_answered && STARTS_MAX <= self.failed_at_once.fetch_add(1, Ordering::Relaxed) + 1 {
            return TransportError::NotRunning { detail: why };
        }
        tracing::warn!(why, "the agent is started again");
        match ended.filter(|_| wrong_line.is_none()) {
            Some(OwnEnd { status, .. }) => TransportError::Interrupted {
                detail: format!("{detail} ({status})"),
            },
            None => error,
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
