//! A log of chained lines that is read back.

use crate::RecordError;
use ktd_io::line_file::{LineKind, LineReader};
use ktd_io::sha256::sha256_hex;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

#[derive(serde::Deserialize)]
struct ReadLine<'a> {
    seq: u64,
    prev: &'a str,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// How far a log reaches, or was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogEnd {
    /// Its lines.
    pub lines: usize,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// SHA-256 of the last one; empty where there is none.
    pub(crate) sha256: String,
}

/// A log that is read line by line, chain checked. No more than one line is held.
#[derive(Debug)]
pub struct LogReader<'a> {
    path: PathBuf,
    /// `None` where there is no file.
    lines: Option<LineReader<'a>>,
    /// What the first line must follow from, where that is known.
    genesis: Option<String>,
    end: LogEnd,
}

/// A line of a log.
#[derive(Debug, Clone, Copy)]
pub struct LogLine<'l> {
    /// As it stands in the file, without its line feed.
    pub text: &'l str,
    /// What it holds.
    pub body: &'l RawValue,
    /// What it follows from: the hash of the line before, of the first what the log starts from.
    pub prev: &'l str,
    path: &'l Path,
    number: usize,
}

impl LogLine<'_> {
    /// The body, typed.
    ///
    /// # Errors
    /// [`RecordError::File`] when it is not a `T`.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<T, RecordError> {
        serde_json::from_str(self.body.get())
            .map_err(|error| RecordError::damaged(self.path, format!("line {}: {error}", self.number)))
    }
}

impl LogReader<'static> {
    /// The log in a file; one that is missing has no lines. A torn last line is left out.
    ///
    /// # Errors
    /// [`RecordError::File`] when it cannot be read.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        Ok(Self::over(path, LineKind::Log.open_if_exists(path)?))
    }
}

impl<'a> LogReader<'a> {
    /// The log whose bytes were read from `path`. A torn last line is left out.
    ///
    /// # Errors
    /// [`RecordError::File`] when their unpacking cannot begin.
    pub fn parse(path: &Path, bytes: &'a [u8]) -> Result<Self, RecordError> {
        Ok(Self::over(path, Some(LineKind::Log.lines(path, bytes)?)))
    }

    fn over(path: &Path, lines: Option<LineReader<'a>>) -> Self {
        Self {
            path: path.to_owned(),
            lines,
            genesis: None,
            end: LogEnd::default(),
        }
    }

    /// The same of a log that must start from `genesis`.
    #[must_use]
    pub fn from(mut self, genesis: &str) -> Self {
        self.genesis = Some(genesis.to_owned());
        self
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// [`RecordError::File`], naming the first line whose chain does not hold.
    pub fn next_line(&mut self) -> Result<Option<LogLine<'_>>, RecordError> {
        let Some(lines) = &mut self.lines else {
            return Ok(None);
        };
        // A line keeps all of its bytes: without a carriage return the chain would be another.
        let Some(line) = lines.next_line()? else {
            return Ok(None);
        };
        let (path, place, number) = (self.path.as_path(), self.end.lines, self.end.lines + 1);
        let damaged = |what: String| RecordError::damaged(path, format!("line {number} {what}"));
        let text = std::str::from_utf8(line).map_err(|error| damaged(format!("is not UTF-8: {error}")))?;
        let read: ReadLine<'_> =
            serde_json::from_str(text).map_err(|error| damaged(format!("is no log line: {error}")))?;
        if place == 0 && self.genesis.as_ref().is_some_and(|genesis| genesis != read.prev) {
            let what = "it does not start from header.json: its first line or that file was changed";
            return Err(RecordError::damaged(path, what));
        }
        if 0 < place && read.prev != self.end.sha256 {
            return Err(damaged(format!(
                "does not follow from line {place}: one of the two was changed"
            )));
        }
        if usize::try_from(read.seq).ok() != Some(place) {
            return Err(damaged(format!("has number {}", read.seq)));
        }
        self.end.lines = number;
        self.end.bytes += u64::try_from(line.len() + 1).unwrap_or(u64::MAX);
        self.end.sha256 = sha256_hex(line);
        Ok(Some(LogLine {
            text,
            body: read.body,
            prev: read.prev,
            path,
            number,
        }))
    }

    /// How far it was read.
    #[must_use]
    pub const fn end(&self) -> &LogEnd {
        &self.end
    }

    /// Reads the rest, and says how far the log reaches.
    ///
    /// # Errors
    /// As [`Self::next_line`].
    pub fn read_to_end(mut self) -> Result<LogEnd, RecordError> {
        while self.next_line()?.is_some() {}
        Ok(self.end)
    }

    /// Hands over every body, typed; how far the log reaches.
    ///
    /// # Errors
    /// As [`Self::next_line`], for a body that is not a `T`, and what `look` returns.
    pub fn each<T: DeserializeOwned>(
        mut self,
        mut look: impl FnMut(T) -> Result<(), RecordError>,
    ) -> Result<LogEnd, RecordError> {
        while let Some(line) = self.next_line()? {
            look(line.typed()?)?;
        }
        Ok(self.end)
    }

    /// All bodies, typed.
    ///
    /// # Errors
    /// As [`Self::each`].
    pub fn bodies<T: DeserializeOwned>(self) -> Result<Vec<T>, RecordError> {
        let mut bodies = Vec::new();
        self.each(|body| {
            bodies.push(body);
            Ok(())
        })?;
        Ok(bodies)
    }
}
