//! The process of one box: started, written to, read from, and ended.

use crate::error::BoxError;
use crate::memory_group::MemoryGroup;
use command_fds::{CommandFdExt, FdMapping};
use ktd_sandbox::{BOX_CONTROL_IN, BOX_CONTROL_OUT, RunnerMessage, decode_message};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is kept of what a box writes to its standard error, which is not a job's.
const ERRORS_KEPT: usize = 4_096;
const CHUNK: usize = 1 << 16;

/// What came of waiting for a box.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The runner answered.
    Message(RunnerMessage),
    /// The clock ran out.
    Timeout,
    /// The box ended, or answered what it must not.
    Ended(String),
}

/// A running box.
#[derive(Debug)]
pub(crate) struct BoxProcess {
    child: Child,
    to: PipeWriter,
    from: PipeReader,
    errors: PipeReader,
    waiting: Vec<u8>,
    said: Vec<u8>,
    group: Option<MemoryGroup>,
    kills: u64,
}

/// The ends of pipes that a box gets, besides those of its control.
pub(crate) type Given = Vec<(i32, OwnedFd)>;

impl BoxProcess {
    /// Starts a command in a process group of its own, with no environment but this and nothing open but the pipes.
    pub(crate) fn start(
        (mut command, environment): (Command, Vec<(&'static str, String)>),
        user: Option<u32>,
        given: Given,
    ) -> Result<Self, BoxError> {
        let pipe =
            || std::io::pipe().map_err(|error| BoxError::invalid(format!("no pipe for a box: {error}")));
        let (control_in, to) = pipe()?;
        let (from, control_out) = pipe()?;
        let (errors, errors_end) = pipe()?;
        command
            .env_clear()
            .envs(environment)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors_end)
            .process_group(0);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let own = [
            (BOX_CONTROL_IN, control_in.into()),
            (BOX_CONTROL_OUT, control_out.into()),
        ];
        let mappings = own
            .into_iter()
            .chain(given)
            .map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd })
            .collect();
        command
            .fd_mappings(mappings)
            .map_err(|error| BoxError::invalid(format!("pipes of a box: {error}")))?;
        let program = std::path::PathBuf::from(command.get_program());
        let child = command.spawn().map_err(BoxError::io("start", &program))?;
        // The command holds the other ends: a box that ends must be the last to have had them open.
        drop(command);
        for end in [to.as_fd(), from.as_fd(), errors.as_fd()] {
            rustix::io::ioctl_fionbio(end, true)
                .map_err(|error| BoxError::invalid(format!("pipes of a box: {error}")))?;
        }
        Ok(Self {
            child,
            to,
            from,
            errors,
            waiting: Vec::new(),
            said: Vec::new(),
            group: None,
            kills: 0,
        })
    }

    /// The number of its first process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Puts processes into a group that the kernel counts.
    pub(crate) fn join(&mut self, group: MemoryGroup, processes: &[u32]) -> Result<(), BoxError> {
        for process in processes {
            group.add(*process)?;
        }
        self.group = Some(group);
        Ok(())
    }

    /// Whether the kernel killed a process of it for lack of memory since the last question.
    pub(crate) fn is_out_of_memory(&mut self) -> bool {
        let kills = self.group.as_ref().map_or(0, MemoryGroup::kills);
        let is_more = self.kills < kills;
        self.kills = kills;
        is_more
    }

    /// Sends bytes and waits for the next message.
    pub(crate) fn exchange(&mut self, bytes: &[u8], wall: Duration) -> Answer {
        let until = Instant::now() + wall;
        let mut left = bytes;
        loop {
            match decode_message(&self.waiting) {
                Ok(Some((message, taken))) => {
                    self.waiting.drain(..taken);
                    return Answer::Message(message);
                }
                Ok(None) => {}
                Err(fault) => return Answer::Ended(format!("the runner answered {fault}")),
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Answer::Timeout;
            }
            match self.step(&mut left, rest) {
                Ok(true) => {}
                Ok(false) => return Answer::Ended(self.last_words()),
                Err(error) => return Answer::Ended(error.to_string()),
            }
        }
    }

    /// Waits until something can be written or read, and does it; false once the box writes no more.
    fn step(&mut self, left: &mut &[u8], rest: Duration) -> std::io::Result<bool> {
        let mut ends = vec![
            PollFd::new(&self.from, PollFlags::IN),
            PollFd::new(&self.errors, PollFlags::IN),
        ];
        if !left.is_empty() {
            ends.push(PollFd::new(&self.to, PollFlags::OUT));
        }
        let rest = Timespec::try_from(rest).ok();
        match poll(&mut ends, rest.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |at: usize| ends.get(at).is_some_and(|end| !end.revents().is_empty());
        let (reads, said, writes) = (is_ready(0), is_ready(1), is_ready(2));
        if said {
            self.keep_errors();
        }
        if writes {
            match self.to.write(left) {
                Ok(written) => *left = left.get(written..).unwrap_or_default(),
                Err(error) if is_later(&error) => {}
                Err(_) => return Ok(false),
            }
        }
        if reads {
            let mut chunk = vec![0; CHUNK];
            match self.from.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(read) => self.waiting.extend(chunk.get(..read).unwrap_or_default()),
                Err(error) if is_later(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn keep_errors(&mut self) {
        let mut chunk = vec![0; ERRORS_KEPT];
        if let Ok(read) = self.errors.read(&mut chunk) {
            let room = ERRORS_KEPT.saturating_sub(self.said.len());
            self.said.extend(chunk.get(..read.min(room)).unwrap_or_default());
        }
    }

    /// What the box wrote to its standard error, in one line.
    pub(crate) fn last_words(&mut self) -> String {
        let until = Instant::now() + Duration::from_millis(500);
        // What ends writes its reason before; its end is seen on another pipe.
        while self.said.len() < ERRORS_KEPT && Instant::now() < until {
            let mut end = [PollFd::new(&self.errors, PollFlags::IN)];
            let rest = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
            if !matches!(poll(&mut end, rest.as_ref()), Ok(1)) {
                break;
            }
            let before = self.said.len();
            self.keep_errors();
            if self.said.len() == before {
                break;
            }
        }
        let said = String::from_utf8_lossy(&self.said);
        let lines: Vec<&str> = said
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        if lines.is_empty() {
            "it ended without a word".to_owned()
        } else {
            lines.join(" | ")
        }
    }

    /// Ends every process of it, and waits until they are gone.
    pub(crate) fn kill(&mut self) {
        let leader = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(leader) = leader {
            kill_process_group(leader, Signal::KILL).ok();
        }
        self.child.wait().ok();
        if let Some(group) = self.group.take() {
            group.remove();
        }
    }
}

impl Drop for BoxProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn is_later(error: &std::io::Error) -> bool {
    [std::io::ErrorKind::WouldBlock, std::io::ErrorKind::Interrupted].contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(2);

    fn start(script: &str) -> BoxProcess {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        BoxProcess::start((command, Vec::new()), None, Given::new()).unwrap()
    }

    #[test]
    fn a_box_that_ends_gives_its_last_words() {
        let answer = start("echo why not >&2; exit 3").exchange(&[], LONG);
        assert!(
            matches!(&answer, Answer::Ended(what) if what == "why not"),
            "{answer:?}"
        );
        let answer = start("exit 3").exchange(&vec![0; 1 << 20], LONG);
        assert!(
            matches!(&answer, Answer::Ended(what) if what == "it ended without a word"),
            "{answer:?}"
        );
    }

    #[test]
    fn a_box_that_says_nothing_runs_out_of_time_and_can_be_ended() {
        let mut process = start("exec sleep 100000");
        // More than a pipe holds, to a box that reads nothing.
        let answer = process.exchange(&vec![0; 1 << 20], Duration::from_millis(20));
        assert!(matches!(answer, Answer::Timeout), "{answer:?}");
        process.kill();
        assert!(matches!(process.exchange(&[], LONG), Answer::Ended(_)));
    }

    #[test]
    fn messages_are_read_one_after_the_other_and_nonsense_ends_the_box() {
        let head = r#"{"kind":"failed","message":"m"}"#;
        let frame = format!("\\0{:o}\\0\\0\\0{head}", head.len());
        let mut process = start(&format!(
            "printf '%b' '{frame}{frame}' >&4; printf xxxx >&4; exec sleep 100000"
        ));
        for _ in 0..2 {
            let answer = process.exchange(&[], LONG);
            let is_it =
                matches!(&answer, Answer::Message(RunnerMessage::Failed { message }) if message == "m");
            assert!(is_it, "{answer:?}");
        }
        let answer = process.exchange(&[], LONG);
        assert!(
            matches!(&answer, Answer::Ended(what) if what.contains("a head of")),
            "{answer:?}"
        );
    }

    #[test]
    fn a_box_gets_an_empty_environment() {
        let answer = start("env >&2").exchange(&[], LONG);
        let Answer::Ended(said) = answer else {
            panic!("{answer:?}");
        };
        let of_the_shell = ["PWD=", "SHLVL=", "_=", "OLDPWD="];
        let mut foreign = said
            .split(" | ")
            .filter(|line| !of_the_shell.iter().any(|own| line.starts_with(own)));
        assert_eq!(foreign.next(), None, "{said}");
    }
}
