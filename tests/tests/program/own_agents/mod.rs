//! Agents outside the harness: programs that speak lines, and clients that call over MCP. Both are asked, recorded and
//! replayed as a model is, and nothing of them stays behind.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a broken fixture fails the test"
)]

mod lines;
mod mcp;

use ktd_kit::{Folder, command};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// A directory with an experiment of one agent in it: three steps, blinded, two tool calls a step.
struct Scene {
    folder: Folder,
}

impl Scene {
    fn new(agent: &str) -> Self {
        Self::in_window(agent, "w")
    }

    fn in_window(agent: &str, window: &str) -> Self {
        let folder = Folder::new();
        let experiment = format!(
            r#"
name = "own"
synthetic = {{ seed = 5, names = 20, days = 330 }}
masks = [{{ level = "blinded" }}]
agents = [{{ id = "mine", {agent} }}]
windows = [{{ id = "{window}", last_days = 3 }}]
session = {{ max_tool_calls = 2 }}
retries = {{ attempts = 2, unanswered_hours = 0, first_wait_ms = 1, longest_wait_ms = 1 }}
"#
        );
        folder.write("own.toml", experiment);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.at(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn bundle(&self) -> PathBuf {
        self.path("out/cells/mine__w__blinded-exact__open-research__s1")
    }

    /// `ktd COMMAND EXPERIMENT --out OUT`.
    fn start(&self, command: &str) -> Command {
        let (experiment, out) = (self.path("own.toml"), self.path("out"));
        ktd(&[
            command,
            experiment.to_str().unwrap(),
            "--out",
            out.to_str().unwrap(),
        ])
    }

    fn run(&self) -> Output {
        self.start("run").output().unwrap()
    }

    fn counters(&self) -> Value {
        let text = std::fs::read_to_string(self.bundle().join("summary.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["counters"].clone()
    }

    /// Verification and replay, which need no agent.
    fn check(&self) {
        for command in ["verify", "replay"] {
            let output = ktd(&[command, self.bundle().to_str().unwrap()]).output().unwrap();
            assert!(output.status.success(), "{command}: {}", told(&output));
        }
    }
}

/// `ktd ARGUMENTS` from elsewhere, so that an agent's own directory must be the experiment's.
fn ktd(arguments: &[&str]) -> Command {
    command(&std::env::temp_dir(), arguments)
}

/// What a program said on standard error.
fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits for something that happens in another process, and fails after a minute without it.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("in vain: {what}");
}

/// Whether a process runs; one that ended and that nobody has reaped yet does not.
fn is_running(process: &str) -> bool {
    std::fs::read_to_string(Path::new("/proc").join(process).join("stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.starts_with(" Z"))
}
