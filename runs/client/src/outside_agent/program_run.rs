//! One run of a program that reads its standard input to the end and writes its answer to standard output.

use super::child::{ChildCommand, Group};
use super::last_words::{keep_end, last_line, status_text};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// How much a program may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramLimits {
    /// The longest that it may run.
    pub time: Duration,
    /// The most that it may write to standard output.
    pub output_bytes: usize,
}

/// Why a program gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramFailure {
    /// The system did not start it.
    #[error("it does not start: {0}")]
    Start(String),
    /// It ended with another code than 0.
    #[error("it ended with {status}{}{last_line}", if last_line.is_empty() { "" } else { ": " })]
    Exit {
        /// `exit code N`, or the signal.
        status: String,
        /// The last line of its standard error.
        last_line: String,
    },
    /// It took too long.
    #[error("it did not end within {seconds} seconds{}{last_line}", if last_line.is_empty() { "" } else { ": " })]
    TimedOut {
        /// The limit.
        seconds: u64,
        /// The last line of its standard error.
        last_line: String,
    },
    /// It wrote too much.
    #[error("it wrote more than {} MiB", .limit_bytes >> 20)]
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// It ended, and what it started keeps its output open.
    #[error("it ended, but a process that it started keeps its standard output open")]
    LeftOpen,
    /// It could not be read.
    #[error("it cannot be read: {0}")]
    Pipe(String),
}

/// How long what is in the pipes may take once a program has ended.
const REST: Duration = Duration::from_secs(5);

/// Starts a program, writes `input` to it, and reads what it writes. Whatever happens, its process group is gone when this
/// returns. A program may leave its input unread.
///
/// # Errors
/// [`ProgramFailure`] unless it ends with code 0 within its limits.
pub async fn run_program(
    command: &ChildCommand,
    input: Vec<u8>,
    limits: ProgramLimits,
) -> Result<Vec<u8>, ProgramFailure> {
    let mut process = command
        .prepared()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| ProgramFailure::Start(error.to_string()))?;
    let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
    let group = Group::of(process);
    let (Some(mut stdin), Some(mut stdout), Some(mut stderr)) = pipes else {
        group.reap().await;
        return Err(ProgramFailure::Start("it started without pipes".to_owned()));
    };
    let mut said = Vec::new();
    let write = async move {
        // A program that does not read its input may still answer.
        stdin.write_all(&input).await.ok();
        drop(stdin);
        Ok(())
    };
    let read = read_capped(&mut stdout, limits.output_bytes);
    let ended = {
        let exchange = async {
            let said = async {
                keep_end(&mut stderr, &mut tokio::io::sink(), &mut said).await;
                Ok(())
            };
            // Too much output ends the wait for the rest at once.
            let ((), output, ()) = tokio::try_join!(write, read, said)?;
            Ok(output)
        };
        tokio::pin!(exchange);
        timeout(limits.time, async {
            tokio::select! {
                biased;
                output = &mut exchange => {
                    if output.is_ok() && cfg!(unix) {
                        group.has_ended().await;
                    }
                    output
                }
                // What it started may hold its output open for ever; its own answer is in the pipe already.
                () = group.has_ended() => timeout(REST, exchange).await.unwrap_or(Err(ProgramFailure::LeftOpen)),
            }
        })
        .await
    };
    let status = group.reap().await;
    let last_line = last_line(&said);
    let Ok(output) = ended else {
        return Err(ProgramFailure::TimedOut {
            seconds: limits.time.as_secs(),
            last_line,
        });
    };
    let output = output?;
    match status {
        Some(status) if status.success() => Ok(output),
        status => Err(ProgramFailure::Exit {
            status: status.map_or_else(|| "no exit code".to_owned(), status_text),
            last_line,
        }),
    }
}

/// All of a stream up to a limit. Beyond it nothing more is read, so that the writer stands still until it is ended.
async fn read_capped(
    stream: &mut (impl AsyncRead + Unpin),
    limit_bytes: usize,
) -> Result<Vec<u8>, ProgramFailure> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(limit_bytes).unwrap_or(u64::MAX).saturating_add(1);
    stream
        .take(limit)
        .read_to_end(&mut bytes)
        .await
        .map_err(|error| ProgramFailure::Pipe(error.to_string()))?;
    if limit_bytes < bytes.len() {
        return Err(ProgramFailure::TooLarge { limit_bytes });
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::Path;

    const LIMITS: ProgramLimits = ProgramLimits {
        time: Duration::from_mins(5),
        output_bytes: 1 << 20,
    };

    /// A run of a shell's script.
    async fn shell(script: &str, input: &str, limits: ProgramLimits) -> Result<String, ProgramFailure> {
        let command = ["sh", "-c", script].map(str::to_owned);
        let command = ChildCommand::new(&command, &[], Path::new(""))
            .map_err(|error| ProgramFailure::Start(error.to_string()))?;
        let output = run_program(&command, input.as_bytes().to_vec(), limits).await?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    #[tokio::test]
    async fn what_it_writes_is_read_to_the_end_and_more_than_a_pipe_holds() {
        let input = "line\n".repeat(40_000);
        let output = shell("cat; printf end", &input, LIMITS).await.unwrap();
        assert_eq!(output.len(), input.len() + 3);
        // Input that nobody reads stops nothing.
        assert_eq!(shell("printf 7", &input, LIMITS).await.unwrap(), "7");
    }

    #[tokio::test]
    async fn failures_are_named_with_the_last_line_of_standard_error() {
        let crash = shell("echo first >&2; echo 'no such column' >&2; exit 3", "", LIMITS).await;
        assert_eq!(
            crash.unwrap_err().to_string(),
            "it ended with exit code 3: no such column"
        );
        let killed = shell("kill -9 $$", "", LIMITS).await.unwrap_err().to_string();
        assert!(killed.contains("signal"), "{killed}");
        let endless = shell(
            "while :; do echo 0123456789012345678901234567890123456789; done",
            "",
            LIMITS,
        )
        .await;
        let limit_bytes = LIMITS.output_bytes;
        assert_eq!(endless.unwrap_err(), ProgramFailure::TooLarge { limit_bytes });
        let brief = ProgramLimits {
            time: Duration::from_secs(1),
            ..LIMITS
        };
        let asleep = shell("echo waiting >&2; sleep 600", "", brief).await.unwrap_err();
        assert_eq!(asleep.to_string(), "it did not end within 1 seconds: waiting");
    }

    #[tokio::test]
    async fn what_it_started_is_ended_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; exit 0", file.display());
        assert_eq!(shell(&script, "", LIMITS).await, Err(ProgramFailure::LeftOpen));
        let pid: i32 = ktd_io::whole_file::read_text(&file, 100)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        // Killed, if not buried yet.
        let stat = format!("/proc/{pid}/stat");
        let state = || ktd_io::whole_file::read_text(Path::new(&stat), 4096).ok();
        while state().is_some_and(|state| !state.contains(") Z ")) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn the_environment_is_empty_but_for_what_is_passed() {
        let output = shell("env", "", LIMITS).await.unwrap();
        let known = ["PATH", "HOME", "PWD", "SHLVL", "_", "OLDPWD"];
        for line in output.lines() {
            let name = line.split('=').next().unwrap();
            assert!(known.contains(&name), "{line}");
        }
    }
}
