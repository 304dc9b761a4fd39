//! A command that is told what happens in a run.

use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// So long the command may take for one event, and so long the program waits for it at its end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Command of the shell that is run for each event, which it finds in `KTD_EVENT`.
pub(crate) struct OnEvent {
    command: String,
    tasks: Handle,
    running: Mutex<JoinSet<()>>,
}

impl OnEvent {
    pub(crate) fn new(command: &str, tasks: &Handle) -> Self {
        Self {
            command: command.to_owned(),
            tasks: tasks.clone(),
            running: Mutex::default(),
        }
    }

    /// Runs the command beside what goes on. One that fails or hangs is no fault of the run.
    pub(crate) fn tell(&self, event: &str) {
        let mut command = Command::new("sh");
        command
            .args(["-c", &self.command])
            .env("KTD_EVENT", event)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        if let Ok(mut running) = self.running.lock() {
            let told = async move {
                let ended = tokio::time::timeout(PATIENCE, command.status()).await;
                if !matches!(&ended, Ok(Ok(status)) if status.success()) {
                    tracing::warn!(?ended, "the command of --on-event failed");
                }
            };
            running.spawn_on(told, &self.tasks);
        }
    }

    /// Waits for the commands that still run.
    pub(crate) fn finish(self) {
        let Ok(mut running) = self.running.into_inner() else {
            return;
        };
        let all = async { while running.join_next().await.is_some() {} };
        let ended = self
            .tasks
            .block_on(async { tokio::time::timeout(PATIENCE, all).await });
        if ended.is_err() {
            tracing::warn!("a command of --on-event was ended with the run");
        }
    }
}
