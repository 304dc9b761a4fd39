//! An append-only log of JSON lines, each with the hash of the one before.
//!
//! Safe to kill at any byte: a torn last line is cut off when the log is opened again. A continued run regenerates
//! the lines after the point it continues from, and each must equal the recorded one before anything is appended.

use crate::RecordError;
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::owner_alone;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Hash of the line before the first of a log that starts from nothing.
pub const NO_GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[derive(Serialize)]
struct Line<'a, T: ?Sized> {
    seq: u64,
    prev: &'a str,
    body: &'a T,
}

#[derive(serde::Deserialize)]
struct ReadLine<'a> {
    seq: u64,
    prev: &'a str,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// Complete lines of a log that were read back, chain checked.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    lines: Vec<String>,
    /// What the first line follows from; empty where there is no line.
    genesis: String,
}

impl Lines {
    /// Reads a log. A torn last line is left out; a missing file has no lines.
    ///
    /// # Errors
    /// [`RecordError::File`], naming the first line whose chain does not hold where the file can be read.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        Self::parse(path, &LineKind::Log.bytes_if_exists(path)?.unwrap_or_default())
    }

    /// The log whose bytes were read from `path`. A torn last line is left out.
    ///
    /// # Errors
    /// [`RecordError::File`] naming the first line whose chain does not hold.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, RecordError> {
        let (mut read, mut prev) = (Self::default(), String::new());
        let mut lines = LineKind::Log.lines(path, bytes)?;
        // A line keeps all of its bytes: without a carriage return the chain would be another.
        while let Some(line) = lines.next_line()? {
            let (place, number) = (read.lines.len(), read.lines.len() + 1);
            let damaged = |what: String| RecordError::damaged(path, format!("line {number} {what}"));
            let text =
                std::str::from_utf8(line).map_err(|error| damaged(format!("is not UTF-8: {error}")))?;
            let body: ReadLine<'_> =
                serde_json::from_str(text).map_err(|error| damaged(format!("is no log line: {error}")))?;
            if place == 0 {
                body.prev.clone_into(&mut read.genesis);
            } else if body.prev != prev {
                return Err(damaged(format!(
                    "does not follow from line {place}: one of the two was changed"
                )));
            }
            if usize::try_from(body.seq).ok() != Some(place) {
                return Err(damaged(format!("has number {}", body.seq)));
            }
            prev = sha256_hex(line);
            read.lines.push(text.to_owned());
        }
        Ok(read)
    }

    /// Checks that the log starts from `genesis`.
    ///
    /// # Errors
    /// [`RecordError::File`] when it starts from something else.
    pub fn starts_from(&self, genesis: &str, path: &Path) -> Result<(), RecordError> {
        if self.is_empty() || self.genesis == genesis {
            return Ok(());
        }
        let what = "it does not start from header.json: its first line or that file was changed";
        Err(RecordError::damaged(path, what))
    }

    /// The text of the first `count` lines with the same bodies in a chain that starts from `genesis`.
    ///
    /// # Errors
    /// [`RecordError::File`] when a line cannot be read again.
    pub fn chained_from(&self, genesis: &str, count: usize, path: &Path) -> Result<String, RecordError> {
        let mut prev = genesis.to_owned();
        let mut text = String::new();
        for line in self.lines.iter().take(count) {
            let unreadable = |error: serde_json::Error| RecordError::damaged(path, error.to_string());
            let ReadLine { seq, body, .. } = serde_json::from_str(line).map_err(unreadable)?;
            let line = Line {
                seq,
                prev: &prev,
                body,
            };
            let line = serde_json::to_string(&line).map_err(unreadable)?;
            prev = sha256_hex(line.as_bytes());
            text.push_str(&line);
            text.push('\n');
        }
        Ok(text)
    }

    /// How many lines there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The raw lines.
    #[must_use]
    pub fn raw(&self) -> &[String] {
        &self.lines
    }

    /// The bodies, typed.
    ///
    /// # Errors
    /// [`RecordError::File`] naming the first line whose body is not a `T`.
    pub fn bodies<T: serde::de::DeserializeOwned>(&self, path: &Path) -> Result<Vec<T>, RecordError> {
        self.lines
            .iter()
            .enumerate()
            .map(|(place, line)| {
                serde_json::from_str::<ReadLine<'_>>(line)
                    .and_then(|read| serde_json::from_str(read.body.get()))
                    .map_err(|error| RecordError::damaged(path, format!("line {}: {error}", place + 1)))
            })
            .collect()
    }
}

/// Where the lines of a log go.
#[derive(Debug)]
enum Sink {
    /// To the file.
    File(File),
    /// Nowhere: a replay compares and keeps nothing.
    Nothing,
    /// To whoever appends it.
    Caller,
}

/// A log that is being written, continued or compared.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    sink: Sink,
    seq: u64,
    prev: String,
    /// Recorded lines that must come again before anything new.
    expected: VecDeque<String>,
}

impl Log {
    /// Opens a log to continue it: the first `keep` lines stand, the rest must come again.
    ///
    /// # Errors
    /// [`RecordError::File`] when the file cannot be opened or its torn end cannot be cut off.
    pub fn continue_at(
        path: &Path,
        recorded: &Lines,
        keep: usize,
        genesis: &str,
    ) -> Result<Self, RecordError> {
        let file = owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .map_err(RecordError::io("open", path))?;
        let whole: usize = recorded.raw().iter().map(|line| line.len() + 1).sum();
        let whole = u64::try_from(whole).unwrap_or(u64::MAX);
        if file.metadata().map_err(RecordError::io("read", path))?.len() != whole {
            file.set_len(whole)
                .map_err(RecordError::io("cut the torn end of", path))?;
        }
        Ok(Self::at(path, Sink::File(file), (recorded, keep), genesis))
    }

    /// A log that writes nothing: every line must equal the recorded one.
    #[must_use]
    pub fn compare(path: &Path, recorded: &Lines, genesis: &str) -> Self {
        Self::at(path, Sink::Nothing, (recorded, 0), genesis)
    }

    /// A log whose lines the caller keeps; `path` is for errors.
    #[must_use]
    pub fn kept_by_caller(path: &Path, genesis: &str) -> Self {
        Self::at(path, Sink::Caller, (&Lines::default(), 0), genesis)
    }

    fn at(path: &Path, sink: Sink, (recorded, keep): (&Lines, usize), genesis: &str) -> Self {
        let kept = recorded.raw().get(..keep).unwrap_or_default();
        Self {
            path: path.to_owned(),
            sink,
            seq: u64::try_from(kept.len()).unwrap_or(u64::MAX),
            prev: kept
                .last()
                .map_or_else(|| genesis.to_owned(), |line| sha256_hex(line.as_bytes())),
            expected: recorded.raw().iter().skip(keep).cloned().collect(),
        }
    }

    /// Adds a line, or checks that it is the recorded one.
    ///
    /// # Errors
    /// [`RecordError::Diverged`] when the record has another line here, [`RecordError::File`] when it cannot be written.
    pub fn append(&mut self, body: &impl Serialize) -> Result<String, RecordError> {
        let line = Line {
            seq: self.seq,
            prev: &self.prev,
            body,
        };
        let text = serde_json::to_string(&line).map_err(|error| {
            RecordError::damaged(&self.path, format!("an event cannot be written: {error}"))
        })?;
        match (self.expected.pop_front(), &mut self.sink) {
            (Some(recorded), _) if recorded == text => {}
            (Some(recorded), _) => return Err(self.diverged(&recorded, &text)),
            (None, Sink::File(file)) => {
                file.write_all(format!("{text}\n").as_bytes())
                    .map_err(RecordError::io("write", &self.path))?;
            }
            (None, Sink::Caller) => {}
            (None, Sink::Nothing) => {
                let missing = "the record ends before it".to_owned();
                return Err(RecordError::Diverged {
                    path: self.path.clone(),
                    line: self.seq + 1,
                    difference: missing,
                });
            }
        }
        self.prev = sha256_hex(text.as_bytes());
        self.seq += 1;
        Ok(text)
    }

    fn diverged(&self, recorded: &str, now: &str) -> RecordError {
        let difference = first_difference(recorded, now);
        RecordError::Diverged {
            path: self.path.clone(),
            line: self.seq + 1,
            difference,
        }
    }

    /// Whether recorded lines are left that never came again.
    #[must_use]
    pub fn has_leftovers(&self) -> bool {
        !self.expected.is_empty()
    }
}

/// Where two texts part, with a little of each.
#[must_use]
pub fn first_difference(recorded: &str, now: &str) -> String {
    const SHOWN_CHARS: usize = 60;
    let common = recorded
        .chars()
        .zip(now.chars())
        .take_while(|(left, right)| left == right)
        .count();
    let from = common.saturating_sub(20);
    let part = |text: &str| text.chars().skip(from).take(SHOWN_CHARS).collect::<String>();
    format!(
        "character {}: recorded {:?}, now {:?}",
        common + 1,
        part(recorded),
        part(now)
    )
}
