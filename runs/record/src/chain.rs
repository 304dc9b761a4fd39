//! An append-only log of JSON lines, each with the hash of the one before.
//!
//! Safe to kill at any byte: a torn last line is cut off when the log is opened again. A continued run regenerates
//! the lines after the point it continues from, and each must equal the recorded one before anything is appended.

use crate::RecordError;
pub use crate::log_reader::{LogEnd, LogLine, LogReader};
use ktd_io::line_file::{LineKind, LineReader};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::owner_alone;
use serde::Serialize;
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
    seq: usize,
    prev: String,
    /// How many lines are recorded, of which those from here on must come again before anything new.
    recorded: usize,
    /// These lines, where there are any.
    expected: Option<LineReader<'static>>,
}

impl Log {
    /// Opens a log, which reaches as far as `whole`, to continue it: what stands up to `kept` stands, the rest must come again.
    ///
    /// # Errors
    /// [`RecordError::File`] when the file cannot be opened or its torn end cannot be cut off.
    pub fn continue_at(
        path: &Path,
        (kept, whole): (&LogEnd, &LogEnd),
        genesis: &str,
    ) -> Result<Self, RecordError> {
        let file = owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .map_err(RecordError::io("open", path))?;
        if file.metadata().map_err(RecordError::io("read", path))?.len() != whole.bytes {
            file.set_len(whole.bytes)
                .map_err(RecordError::io("cut the torn end of", path))?;
        }
        Self::at(path, Sink::File(file), (kept, whole), genesis)
    }

    /// A log that writes nothing: every line must equal the recorded one.
    ///
    /// # Errors
    /// [`RecordError::File`] when the file cannot be opened.
    pub fn compare(path: &Path, whole: &LogEnd, genesis: &str) -> Result<Self, RecordError> {
        Self::at(path, Sink::Nothing, (&LogEnd::default(), whole), genesis)
    }

    /// A log whose lines the caller keeps; `path` is for errors.
    #[must_use]
    pub fn kept_by_caller(path: &Path, genesis: &str) -> Self {
        Self {
            path: path.to_owned(),
            sink: Sink::Caller,
            seq: 0,
            prev: genesis.to_owned(),
            recorded: 0,
            expected: None,
        }
    }

    fn at(
        path: &Path,
        sink: Sink,
        (kept, whole): (&LogEnd, &LogEnd),
        genesis: &str,
    ) -> Result<Self, RecordError> {
        let is_new = kept.lines == 0;
        let expected = kept.bytes..whole.bytes;
        let expected = (!expected.is_empty()).then(|| LineKind::Log.open_within(path, expected));
        Ok(Self {
            path: path.to_owned(),
            sink,
            seq: kept.lines,
            prev: if is_new { genesis } else { &kept.sha256 }.to_owned(),
            recorded: whole.lines,
            expected: expected.transpose()?,
        })
    }

    /// Adds a line, or checks that it is the recorded one.
    ///
    /// # Errors
    /// [`RecordError::Diverged`] when the record has another line here, [`RecordError::File`] when it cannot be written.
    pub fn append(&mut self, body: &(impl Serialize + ?Sized)) -> Result<String, RecordError> {
        let line = Line {
            seq: u64::try_from(self.seq).unwrap_or(u64::MAX),
            prev: &self.prev,
            body,
        };
        let text = serde_json::to_string(&line).map_err(|error| {
            RecordError::damaged(&self.path, format!("an event cannot be written: {error}"))
        })?;
        if self.has_leftovers() {
            self.check_recorded(&text)?;
        } else {
            match &mut self.sink {
                Sink::File(file) => file
                    .write_all(format!("{text}\n").as_bytes())
                    .map_err(RecordError::io("write", &self.path))?,
                Sink::Caller => {}
                Sink::Nothing => return Err(self.diverged("the record ends before it".to_owned())),
            }
        }
        self.prev = sha256_hex(text.as_bytes());
        self.seq += 1;
        Ok(text)
    }

    /// Compares a line with the next of those that must come again.
    fn check_recorded(&mut self, text: &str) -> Result<(), RecordError> {
        let recorded = match &mut self.expected {
            Some(lines) => lines.next_line()?,
            None => None,
        };
        match recorded {
            Some(recorded) if recorded == text.as_bytes() => Ok(()),
            recorded => {
                let recorded = String::from_utf8_lossy(recorded.unwrap_or_default()).into_owned();
                Err(self.diverged(first_difference(&recorded, text)))
            }
        }
    }

    fn diverged(&self, difference: String) -> RecordError {
        RecordError::Diverged {
            path: self.path.clone(),
            line: u64::try_from(self.seq + 1).unwrap_or(u64::MAX),
            difference,
        }
    }

    /// Whether one recorded line is left that has not come again.
    #[must_use]
    pub const fn is_last_left(&self) -> bool {
        self.seq + 1 == self.recorded
    }

    /// Whether recorded lines are left that never came again.
    #[must_use]
    pub const fn has_leftovers(&self) -> bool {
        self.seq < self.recorded
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
