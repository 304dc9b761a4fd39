//! A child process that speaks lines, in a process group of its own that never outlives it.

use super::last_words::{keep_end, last_line, status_text};
use super::turn::TURN_BYTES_MAX;
use crate::ClientError;
use ktd_agents::TransportError;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child as Process, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// The variables every agent gets: without them few programs start.
const ENVIRONMENT: [&str; 2] = ["PATH", "HOME"];

/// How long an agent may take to end by itself once it was told that the episode is over.
const FAREWELL: Duration = Duration::from_secs(5);

/// Which program an agent is, resolved against the experiment's directory.
#[derive(Clone, PartialEq, Eq)]
pub struct ChildCommand {
    program: PathBuf,
    arguments: Vec<String>,
    directory: PathBuf,
    environment: BTreeMap<String, OsString>,
}

impl std::fmt::Debug for ChildCommand {
    /// Values of variables are left out: they may be secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ChildCommand")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("environment", &self.environment.keys())
            .finish_non_exhaustive()
    }
}

impl ChildCommand {
    /// The command of an agent, run in `directory` with `PATH`, `HOME` and the variables of `pass_env` alone.
    ///
    /// # Errors
    /// [`ClientError::Input`] when the program is not there or a variable is not set.
    pub fn new(command: &[String], pass_env: &[String], directory: &Path) -> Result<Self, ClientError> {
        let program = check_command(command, directory)?;
        let mut environment: BTreeMap<String, OsString> = ENVIRONMENT
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)))
            .collect();
        for name in pass_env {
            let value = std::env::var_os(name).ok_or_else(|| {
                ClientError::input(
                    format!("the environment variable {name} is not set"),
                    format!("export {name}=... before running, or strike it from `pass_env`"),
                )
            })?;
            environment.insert(name.clone(), value);
        }
        Ok(Self {
            program,
            arguments: command.iter().skip(1).cloned().collect(),
            directory: if directory.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                directory.to_owned()
            },
            environment,
        })
    }

    /// The same variables for another program, which starts this one.
    pub(super) fn run_by(self, program: PathBuf, arguments: Vec<String>) -> Self {
        Self {
            program,
            arguments,
            directory: PathBuf::from("/"),
            environment: self.environment,
        }
    }

    /// The command with its own environment alone, in a process group of its own.
    pub(super) fn prepared(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(&self.environment)
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command
    }
}

/// The program of a command, looked up as it will be run: a bare name on `PATH`, a path from the experiment's directory.
///
/// # Errors
/// [`ClientError::Input`] when there is no such program.
pub fn check_command(command: &[String], directory: &Path) -> Result<PathBuf, ClientError> {
    let Some(name) = command.first().filter(|name| !name.is_empty()) else {
        return Err(ClientError::input(
            "`command` is empty",
            "for example: command = [\"python3\", \"my_agent.py\"]",
        ));
    };
    let absent = || {
        ClientError::input(
            format!("there is no program {name:?}"),
            "give a name on PATH, or a path from the experiment file's directory, such as \"./agent\"",
        )
    };
    if name.contains('/') {
        let path = std::path::absolute(directory.join(name)).ok();
        return path.filter(|path| is_program(path)).ok_or_else(absent);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
        .ok_or_else(absent)
}

/// Checks that the source that a command has an interpreter run lies where it will look for it. Other words may be files of another
/// machine or of a container: a note names the first that looks like a source and is not there.
///
/// # Errors
/// [`ClientError::Input`] for a source that is not there.
pub fn check_sources(command: &[String], directory: &Path) -> Result<Option<String>, ClientError> {
    const ENDINGS: [&str; 8] = ["py", "js", "mjs", "ts", "sh", "rb", "R", "jar"];
    const INTERPRETERS: [&str; 5] = ["node", "bash", "sh", "ruby", "Rscript"];
    let is_missing_source = |word: &&String| {
        let ending = Path::new(word.as_str()).extension();
        let is_source = ending.is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        is_source && !word.starts_with('-') && !word.contains("://") && !directory.join(word).exists()
    };
    let program = command.first().and_then(|program| Path::new(program).file_name());
    let is_interpreter = program
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with("python") || INTERPRETERS.contains(&name));
    if is_interpreter && let Some(source) = command.get(1).filter(is_missing_source) {
        return Err(ClientError::input(
            format!("its command names {source:?}, which is not there"),
            "give a path from the experiment file's directory",
        ));
    }
    let other = command.iter().skip(1).find(is_missing_source);
    Ok(other.map(|word| format!("its command names {word:?}, which is not beside the experiment file")))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    const ANYONE_EXECUTES: u32 = 0o111;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & ANYONE_EXECUTES != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// How long the last word of an agent that has ended may take to come out of the pipe.
const LAST_WORD: Duration = Duration::from_secs(1);

/// How often it is looked whether an agent has ended.
#[cfg(unix)]
const LOOK: Duration = Duration::from_millis(50);

/// How a program ended by itself.
pub(super) struct OwnEnd {
    /// Its exit code, in words.
    pub(super) status: String,
    /// The last line of its standard error: for who started it, and for no record, for nobody knows what is in it.
    pub(super) last_line: String,
}

/// A running agent. Dropped or stopped, its whole process group is killed.
#[derive(Debug)]
pub(super) struct Child {
    group: Group,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Passes its standard error on to the terminal, and keeps the end of it.
    said: JoinHandle<Vec<u8>>,
}

impl Child {
    /// Starts it. Its standard error goes on to the terminal.
    ///
    /// # Errors
    /// [`TransportError::Connect`] with what the system said.
    pub(super) fn start(command: &ChildCommand) -> Result<Self, TransportError> {
        let failed = |detail: String| TransportError::Connect { detail };
        let mut process = command
            .prepared()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("the agent does not start: {error}")))?;
        match (process.stdin.take(), process.stdout.take(), process.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok(Self {
                group: Group(process),
                stdin,
                stdout: BufReader::new(stdout),
                said: tokio::spawn(pass_on(stderr)),
            }),
            _ => Err(failed("the agent started without pipes".to_owned())),
        }
    }

    /// Writes a line and reads one.
    ///
    /// # Errors
    /// [`TransportError::Interrupted`] when the agent ended or closed a pipe, [`TransportError::ReplyTooLarge`].
    pub(super) async fn exchange(&mut self, line: &str) -> Result<Vec<u8>, TransportError> {
        let answer = self.answer(line).await;
        if matches!(answer, Err(TransportError::Interrupted { .. })) {
            // Who has closed a pipe ends, as a rule, and has an exit code then.
            tokio::time::timeout(LAST_WORD, self.group.has_ended()).await.ok();
        }
        answer
    }

    async fn answer(&mut self, line: &str) -> Result<Vec<u8>, TransportError> {
        self.tell(line).await?;
        let Self { group, stdout, .. } = self;
        let hear = hear(stdout);
        tokio::pin!(hear);
        tokio::select! {
            biased;
            heard = &mut hear => heard,
            // What it started may hold its output open for ever; its last word is in the pipe already.
            () = group.has_ended() => tokio::time::timeout(LAST_WORD, hear)
                .await
                .unwrap_or_else(|_| Err(interrupted("the agent ended without a word".to_owned()))),
        }
    }

    async fn tell(&mut self, line: &str) -> Result<(), TransportError> {
        let told = match self.stdin.write_all(line.as_bytes()).await {
            Ok(()) => self.stdin.flush().await,
            Err(error) => Err(error),
        };
        told.map_err(|error| interrupted(format!("the agent does not read: {error}")))
    }

    /// Says goodbye, lets the agent end by itself for a while, and makes sure that it has.
    pub(super) async fn farewell(mut self, line: &str) {
        // An agent that has left without a goodbye is stopped all the same.
        self.tell(line).await.ok();
        let Self {
            group,
            stdin,
            mut stdout,
            said: _said,
        } = self;
        drop(stdin);
        let mut ignored = tokio::io::sink();
        tokio::select! {
            _ = tokio::io::copy(&mut stdout, &mut ignored) => {}
            () = group.has_ended() => {}
            () = tokio::time::sleep(FAREWELL) => {}
        }
        group.reap().await;
    }

    /// Stops it at once, and says how it had ended by itself, if it had.
    pub(super) async fn stop(self) -> Option<OwnEnd> {
        let status = self.group.reap().await?;
        status.code()?;
        let said = tokio::time::timeout(LAST_WORD, self.said).await;
        Some(OwnEnd {
            status: status_text(status),
            last_line: last_line(&said.ok().and_then(Result::ok).unwrap_or_default()),
        })
    }
}

async fn pass_on(mut stderr: ChildStderr) -> Vec<u8> {
    let mut said = Vec::new();
    keep_end(&mut stderr, &mut tokio::io::stderr(), &mut said).await;
    said
}

/// The process group that a child leads.
#[derive(Debug)]
pub(super) struct Group(Process);

impl Group {
    /// The group of a child that was started in one of its own.
    pub(super) const fn of(process: Process) -> Self {
        Self(process)
    }

    /// Kills every process of the group, and waits until its leader is gone.
    pub(super) async fn reap(mut self) -> Option<ExitStatus> {
        self.kill();
        self.0.wait().await.ok()
    }

    /// Waits until the leader has ended, without reaping it: its number must go on naming the group.
    #[cfg(unix)]
    pub(super) async fn has_ended(&self) {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while let Some(leader) = self.leader()
            && matches!(waitid(WaitId::Pid(leader), options), Ok(None))
        {
            tokio::time::sleep(LOOK).await;
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn has_ended(&self) {
        std::future::pending::<()>().await;
    }

    #[cfg(unix)]
    fn leader(&self) -> Option<rustix::process::Pid> {
        let id = self.0.id().and_then(|id| i32::try_from(id).ok())?;
        rustix::process::Pid::from_raw(id)
    }

    /// The leader has not been waited for yet, so its number still names this group and no other.
    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader() {
            // Nothing is left to kill when the group is gone.
            rustix::process::kill_process_group(leader, rustix::process::Signal::KILL).ok();
        }
        self.0.start_kill().ok();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads a line.
async fn hear(stdout: &mut BufReader<ChildStdout>) -> Result<Vec<u8>, TransportError> {
    let mut line = Vec::new();
    let limit = u64::try_from(TURN_BYTES_MAX).unwrap_or(u64::MAX);
    stdout
        .take(limit)
        .read_until(b'\n', &mut line)
        .await
        .map_err(|error| interrupted(format!("the agent cannot be read: {error}")))?;
    if line.ends_with(b"\n") {
        return Ok(line);
    }
    if line.len() == TURN_BYTES_MAX {
        return Err(TransportError::ReplyTooLarge {
            limit_bytes: TURN_BYTES_MAX,
        });
    }
    let place = if line.is_empty() {
        "instead of a line"
    } else {
        "inside a line"
    };
    Err(interrupted(format!(
        "the agent ended or closed its standard output {place}"
    )))
}

fn interrupted(detail: String) -> TransportError {
    TransportError::Interrupted { detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_source_of_an_interpreter_has_to_be_here() {
        let directory = tempfile::tempdir().unwrap();
        ktd_io::whole_file::write_whole(&directory.path().join("agent.py"), b"").unwrap();
        let check = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            check_sources(&command, directory.path()).map(|note| note.is_some())
        };
        for absent in [
            ["python3.12", "none.py"],
            ["/bin/sh", "none.sh"],
            ["Rscript", "none.R"],
        ] {
            assert!(check(&absent).is_err(), "{absent:?}");
        }
        for fine in [
            &["python3", "agent.py"][..],
            &["python3", "-m", "agent"],
            &["tool", "--config=a.py"],
            &["deno", "run", "https://h/a.ts"],
        ] {
            assert!(!check(fine).unwrap(), "{fine:?}");
        }
        for noted in [
            &["docker", "run", "-i", "img", "python", "/app/agent.py"][..],
            &["ssh", "host", "agent.sh"],
        ] {
            assert!(check(noted).unwrap(), "{noted:?}");
        }
    }
}
