//! An append-only log of JSON lines, each with the hash of the one before.
//!
//! Safe to kill at any byte: a torn last line is cut off when the log is opened again. A continued run regenerates
//! the lines after the point it continues from, and each must equal the recorded one before anything is appended.

use crate::BundleError;
use ktd_io::FileError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{owner_alone, read_bounded};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The most that a log may hold, bytes: 1 GiB, a hundred times a long episode's.
const LOG_LIMIT_BYTES: u64 = 1 << 30;

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
    /// [`BundleError::File`], naming the first line whose chain does not hold where the file can be read.
    pub fn read(path: &Path) -> Result<Self, BundleError> {
        match read_bounded(path, LOG_LIMIT_BYTES) {
            Ok(bytes) => Self::parse(path, &bytes),
            Err(FileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// The log whose bytes were read from `path`. A torn last line is left out.
    ///
    /// # Errors
    /// [`BundleError::File`] naming the first line whose chain does not hold.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, BundleError> {
        let end = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |last| last + 1);
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default()).map_err(|error| {
            BundleError::damaged(path, format!("not UTF-8 at byte {}", error.valid_up_to()))
        })?;
        // A line keeps all of its bytes: `str::lines` would hide a carriage return from the chain.
        let lines: Vec<String> = text.split_terminator('\n').map(str::to_owned).collect();
        let mut read = Self {
            lines,
            genesis: String::new(),
        };
        read.genesis = read.check(path)?;
        Ok(read)
    }

    /// Checks the chain; returns what its first line follows from.
    fn check(&self, path: &Path) -> Result<String, BundleError> {
        let (mut prev, mut genesis) = (String::new(), String::new());
        for (place, line) in self.lines.iter().enumerate() {
            let number = place + 1;
            let read: ReadLine<'_> = serde_json::from_str(line).map_err(|error| {
                BundleError::damaged(path, format!("line {number} is no log line: {error}"))
            })?;
            if place == 0 {
                read.prev.clone_into(&mut genesis);
            } else if read.prev != prev {
                let what =
                    format!("line {number} does not follow from line {place}: one of the two was changed");
                return Err(BundleError::damaged(path, what));
            }
            if usize::try_from(read.seq).ok() != Some(place) {
                return Err(BundleError::damaged(
                    path,
                    format!("line {number} has number {}", read.seq),
                ));
            }
            prev = sha256_hex(line.as_bytes());
        }
        Ok(genesis)
    }

    /// Checks that the log starts from `genesis`.
    ///
    /// # Errors
    /// [`BundleError::File`] when it starts from something else.
    pub fn starts_from(&self, genesis: &str, path: &Path) -> Result<(), BundleError> {
        if self.is_empty() || self.genesis == genesis {
            return Ok(());
        }
        let what = "it does not start from header.json: its first line or that file was changed";
        Err(BundleError::damaged(path, what))
    }

    /// The text of the first `count` lines with the same bodies in a chain that starts from `genesis`.
    ///
    /// # Errors
    /// [`BundleError::File`] when a line cannot be read again.
    pub fn chained_from(&self, genesis: &str, count: usize, path: &Path) -> Result<String, BundleError> {
        let mut prev = genesis.to_owned();
        let mut text = String::new();
        for line in self.lines.iter().take(count) {
            let unreadable = |error: serde_json::Error| BundleError::damaged(path, error.to_string());
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
    /// [`BundleError::File`] naming the first line whose body is not a `T`.
    pub fn bodies<T: serde::de::DeserializeOwned>(&self, path: &Path) -> Result<Vec<T>, BundleError> {
        self.lines
            .iter()
            .enumerate()
            .map(|(place, line)| {
                serde_json::from_str::<ReadLine<'_>>(line)
                    .and_then(|read| serde_json::from_str(read.body.get()))
                    .map_err(|error| BundleError::damaged(path, format!("line {}: {error}", place + 1)))
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
    /// [`BundleError::File`] when the file cannot be opened or its torn end cannot be cut off.
    pub fn continue_at(
        path: &Path,
        recorded: &Lines,
        keep: usize,
        genesis: &str,
    ) -> Result<Self, BundleError> {
        let file = owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .map_err(BundleError::io("open", path))?;
        let whole: usize = recorded.raw().iter().map(|line| line.len() + 1).sum();
        let whole = u64::try_from(whole).unwrap_or(u64::MAX);
        if file.metadata().map_err(BundleError::io("read", path))?.len() != whole {
            file.set_len(whole)
                .map_err(BundleError::io("cut the torn end of", path))?;
        }
        Ok(Self::at(path, Sink::File(file), (recorded, keep), genesis))
    }

    /// A log that writes nothing: every line must equal the recorded one.
    #[must_use]
    pub fn compare(path: &Path, recorded: &Lines, genesis: &str) -> Self {
        Self::at(path, Sink::Nothing, (recorded, 0), genesis)
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
    /// [`BundleError::Diverged`] when the record has another line here, [`BundleError::File`] when it cannot be written.
    pub fn append(&mut self, body: &impl Serialize) -> Result<String, BundleError> {
        let line = Line {
            seq: self.seq,
            prev: &self.prev,
            body,
        };
        let text = serde_json::to_string(&line).map_err(|error| {
            BundleError::damaged(&self.path, format!("an event cannot be written: {error}"))
        })?;
        match (self.expected.pop_front(), &mut self.sink) {
            (Some(recorded), _) if recorded == text => {}
            (Some(recorded), _) => return Err(self.diverged(&recorded, &text)),
            (None, Sink::File(file)) => {
                file.write_all(format!("{text}\n").as_bytes())
                    .map_err(BundleError::io("write", &self.path))?;
            }
            (None, Sink::Nothing) => {
                let missing = "the record ends before it".to_owned();
                return Err(BundleError::Diverged {
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

    fn diverged(&self, recorded: &str, now: &str) -> BundleError {
        let difference = first_difference(recorded, now);
        BundleError::Diverged {
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
