//! A command that is told what happens in a run.

use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// So long the command may take for one event, and so long the program waits for it at its end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Command of the shell that is run for each event, which it finds in `KTD_EVENT`, one after the other.
pub(crate) struct OnEvent {
    events: UnboundedSender<String>,
    told: JoinHandle<()>,
    tasks: Handle,
}

impl OnEvent {
    pub(crate) fn new(command: &str, tasks: &Handle) -> Self {
        let (events, mut heard) = unbounded_channel::<String>();
        let command = command.to_owned();
        let told = tasks.spawn(async move {
            while let Some(event) = heard.recv().await {
                run(&command, &event).await;
            }
        });
        Self {
            events,
            told,
            tasks: tasks.clone(),
        }
    }

    /// Runs the command beside what goes on, after those of events before.
    pub(crate) fn tell(&self, event: &str) {
        // Nobody hears it where the runtime has ended.
        self.events.send(event.to_owned()).ok();
    }

    /// Waits for the commands that are still to run.
    pub(crate) fn finish(self) {
        drop(self.events);
        let mut told = self.told;
        let ended = self
            .tasks
            .block_on(async { tokio::time::timeout(PATIENCE, &mut told).await });
        if ended.is_err() {
            told.abort();
            tracing::warn!("a command of --on-event was ended with the run");
        }
    }
}

/// Runs the command for an event. One that fails or hangs is no fault of the run.
async fn run(command: &str, event: &str) {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .env("KTD_EVENT", event)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENCE, shell.status()).await;
    if !matches!(&ended, Ok(Ok(status)) if status.success()) {
        tracing::warn!(?ended, "the command of --on-event failed");
    }
}
