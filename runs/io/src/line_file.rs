//! Files of JSON lines, plain or packed with zstd, read a line at a time and never beyond what a file of their kind holds.

use crate::FileError;
use crate::frame::{DEFAULT_LEVEL, WINDOW_LOG, pack_file, packer};
use crate::whole_file::{if_found, open_regular, read_bounded, write_whole};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What any packed file may unpack to, bytes: 128 MiB, so that nobody's short file is refused for what repeats in it.
const UNPACKED_BYTES_FREE: u64 = 128 << 20;
/// The most that a longer file may unpack to for each of its own bytes. What repeats most is a conversation whose every request
/// holds all before it: twice as much as it has requests, and each request adds some hundred bytes that repeat nothing.
const UNPACKED_BYTES_PER_BYTE: u64 = 1_024;

/// What a file of lines is, which decides how much it may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Requests to a model and its replies. Two thousand steps of twenty requests of 100 kB each are 4 GB, and a reply of
    /// 8 MiB in which every character is escaped makes a line of 48 MiB.
    Exchanges,
    /// Events, ledgers and journals: those of four thousand steps with three hundred stocks are some 200 MB.
    Log,
    /// Probes, answers to them and their keys. A probe that shows a whole episode of 548 steps of an agent that asks is 2 MB,
    /// and the 4,000 that the real panel's certificate puts are 1.3 GB.
    Probes,
}

/// The most that a file of lines may hold, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineBounds {
    /// The file as it lies on the disk.
    pub file_bytes: u64,
    /// One line, with its line feed.
    pub line_bytes: u64,
    /// All lines, unpacked.
    pub unpacked_bytes: u64,
}

impl LineKind {
    /// The bounds of a file of this kind.
    #[must_use]
    pub const fn bounds(self) -> LineBounds {
        let (file_bytes, line_bytes, unpacked_bytes) = match self {
            Self::Exchanges => (1 << 30, 64 << 20, 4 << 30),
            Self::Log => (512 << 20, 64 << 20, 512 << 20),
            Self::Probes => (256 << 20, 16 << 20, 4 << 30),
        };
        LineBounds {
            file_bytes,
            line_bytes,
            unpacked_bytes,
        }
    }

    /// The bytes of a file as it lies on the disk.
    ///
    /// # Errors
    /// Those of [`read_bounded`].
    pub fn bytes(self, path: &Path) -> Result<Vec<u8>, FileError> {
        read_bounded(path, self.bounds().file_bytes)
    }

    /// The bytes of a file as it lies on the disk; `None` when there is none.
    ///
    /// # Errors
    /// Those of [`read_bounded`].
    pub fn bytes_if_exists(self, path: &Path) -> Result<Option<Vec<u8>>, FileError> {
        if_found(self.bytes(path))
    }

    /// As [`Self::open`]; `None` when there is no such file.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_if_exists(self, path: &Path) -> Result<Option<LineReader<'static>>, FileError> {
        if_found(self.open(path))
    }

    /// The lines of a part of a file, whose bytes begin with a line or a frame.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_within(self, path: &Path, part: Range<u64>) -> Result<LineReader<'static>, FileError> {
        let mut file = open_regular(path)?;
        file.seek(SeekFrom::Start(part.start))
            .map_err(FileError::io("read", path))?;
        let size = part.end.saturating_sub(part.start);
        self.reader(path, BufReader::new(file.take(size)), size)
    }

    /// The lines of a file, of which no more than one is held.
    ///
    /// # Errors
    /// [`FileError::NotRegular`], [`FileError::TooLarge`], [`FileError::Io`].
    pub fn open(self, path: &Path) -> Result<LineReader<'static>, FileError> {
        let file = open_regular(path)?;
        let size = file.metadata().map_err(FileError::io("read", path))?.len();
        let limit_bytes = self.bounds().file_bytes;
        if limit_bytes < size {
            let path = path.to_owned();
            return Err(FileError::TooLarge { path, limit_bytes });
        }
        self.reader(path, BufReader::new(file), size)
    }

    /// The lines of bytes that were read from `path`, borrowed or owned.
    ///
    /// # Errors
    /// [`FileError::Io`] when the unpacking cannot begin.
    pub fn lines<'a>(
        self,
        path: &Path,
        bytes: impl AsRef<[u8]> + Send + Sync + 'a,
    ) -> Result<LineReader<'a>, FileError> {
        let size = u64::try_from(bytes.as_ref().len()).unwrap_or(u64::MAX);
        self.reader(path, Cursor::new(bytes), size)
    }

    fn reader<'a>(
        self,
        path: &Path,
        source: impl BufRead + Send + Sync + 'a,
        size: u64,
    ) -> Result<LineReader<'a>, FileError> {
        let bounds = self.bounds();
        let is_packed = is_packed(path) && 0 < size;
        let (lines, unpacked_bytes): (Box<dyn BufRead + Send + Sync + 'a>, u64) = if is_packed {
            let mut decoder = zstd::Decoder::with_buffer(source).map_err(FileError::io("read", path))?;
            let limited = decoder.window_log_max(WINDOW_LOG);
            limited.map_err(FileError::io("read", path))?;
            let of_size = size.saturating_mul(UNPACKED_BYTES_PER_BYTE);
            let most = of_size.max(UNPACKED_BYTES_FREE);
            (Box::new(BufReader::new(decoder)), most.min(bounds.unpacked_bytes))
        } else {
            (Box::new(source), bounds.unpacked_bytes)
        };
        Ok(LineReader {
            path: path.to_owned(),
            is_packed,
            lines,
            line: Vec::new(),
            number: 0,
            line_bytes: bounds.line_bytes,
            unpacked_bytes,
            whole_bytes: 0,
            torn_bytes: 0,
        })
    }
}

/// The bytes of a file with a line for each value, packed where its name ends in `.zst`. Of packed lines no more than one is
/// held as text.
///
/// # Errors
/// [`FileError::Damaged`] for a value that cannot be JSON, [`FileError::Io`] when the lines cannot be packed.
pub fn line_bytes<T: Serialize>(
    path: &Path,
    values: impl IntoIterator<Item = T>,
) -> Result<Vec<u8>, FileError> {
    if !is_packed(path) {
        let mut lines = Vec::new();
        for value in values {
            push_line(&mut lines, path, &value)?;
        }
        return Ok(lines);
    }
    let mut packer = packer(Vec::new(), DEFAULT_LEVEL).map_err(FileError::io("compress", path))?;
    let mut line = Vec::new();
    for value in values {
        line.clear();
        push_line(&mut line, path, &value)?;
        packer.write_all(&line).map_err(FileError::io("compress", path))?;
    }
    packer.finish().map_err(FileError::io("compress", path))
}

/// Writes a whole file of lines or nothing, packed where its name ends in `.zst`: of packed lines no more is held than what
/// repetitions are looked for in.
///
/// # Errors
/// What `write` returns, and [`FileError::Io`]; the old content stands then.
pub fn write_lines<E: From<FileError>>(
    path: &Path,
    write: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), FileError>) -> Result<(), E>,
) -> Result<(), E> {
    if is_packed(path) {
        return pack_file(path, None, write);
    }
    let mut lines = Vec::new();
    write(&mut |bytes| {
        lines.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(write_whole(path, &lines)?)
}

fn push_line(lines: &mut Vec<u8>, path: &Path, value: &impl Serialize) -> Result<(), FileError> {
    serde_json::to_writer(&mut *lines, value).map_err(|error| FileError::damaged(path, error.to_string()))?;
    lines.push(b'\n');
    Ok(())
}

/// Whether a file is packed: its name says so.
fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// The lines of a file, one at a time.
pub struct LineReader<'a> {
    path: PathBuf,
    is_packed: bool,
    lines: Box<dyn BufRead + Send + Sync + 'a>,
    line: Vec<u8>,
    number: usize,
    line_bytes: u64,
    unpacked_bytes: u64,
    whole_bytes: u64,
    torn_bytes: u64,
}

impl fmt::Debug for LineReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of {}", self.number, self.path.display())
    }
}

impl LineReader<'_> {
    /// The next whole line without its line feed; `None` at the end, whether or not bytes without a line feed stand there.
    ///
    /// # Errors
    /// [`FileError::LineTooLarge`] before more than the bound is held, [`FileError::Damaged`] for a blank line and for what
    /// cannot be unpacked, [`FileError::Io`].
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, FileError> {
        self.line.clear();
        let room = self.unpacked_bytes.saturating_sub(self.whole_bytes);
        let limit = self.line_bytes.min(room);
        let read = self.lines.as_mut().take(limit.saturating_add(1));
        let read = { read }.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| {
            if self.is_packed {
                FileError::damaged(&self.path, format!("line {}: {error}", self.number + 1))
            } else {
                FileError::io("read", &self.path)(error)
            }
        })?;
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if limit < read {
            return Err(self.too_large(room < self.line_bytes));
        }
        if self.line.pop_if(|last| *last == b'\n').is_none() {
            self.torn_bytes = read;
            return Ok(None);
        }
        self.whole_bytes += read;
        if self.line.trim_ascii().is_empty() {
            return Err(FileError::damaged(
                &self.path,
                format!("line {} is blank", self.number),
            ));
        }
        Ok(Some(&self.line))
    }

    /// All lines as values.
    ///
    /// # Errors
    /// Those of [`Self::whole_values`], and [`FileError::Damaged`] for a last line without end.
    pub fn values<T: DeserializeOwned>(mut self) -> Result<Vec<T>, FileError> {
        let values = self.whole_values()?;
        self.check_whole()?;
        Ok(values)
    }

    /// All whole lines as values.
    ///
    /// # Errors
    /// Those of [`Self::next_line`], and [`FileError::Damaged`] for a line that is no such value.
    pub fn whole_values<T: DeserializeOwned>(&mut self) -> Result<Vec<T>, FileError> {
        let mut values = Vec::new();
        while let Some(line) = self.next_line()? {
            match serde_json::from_slice(line) {
                Ok(value) => values.push(value),
                Err(error) => return Err(self.damaged(error)),
            }
        }
        Ok(values)
    }

    /// Checks at the end that the last line is whole.
    ///
    /// # Errors
    /// [`FileError::Damaged`].
    pub fn check_whole(&self) -> Result<(), FileError> {
        if self.torn_bytes == 0 {
            return Ok(());
        }
        Err(self.damaged("it is cut short: it has no line end"))
    }

    /// Damage of the last line that was read.
    pub fn damaged(&self, what: impl std::fmt::Display) -> FileError {
        FileError::damaged(&self.path, format!("line {}: {what}", self.number))
    }

    /// The last whole line that was read.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// The number of the last line that was read, from 1; 0 before the first.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Bytes of the whole lines that were read, with their line feeds, unpacked.
    #[must_use]
    pub const fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// Bytes after the last line feed, unpacked, once the end was reached.
    #[must_use]
    pub const fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    fn too_large(&self, is_file: bool) -> FileError {
        let (what, limit_bytes) = if is_file {
            ("with it the file holds more than", self.unpacked_bytes)
        } else {
            ("it is longer than", self.line_bytes)
        };
        FileError::LineTooLarge {
            path: self.path.clone(),
            line: self.number,
            what,
            limit_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(size: u64, byte: u8) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        std::io::copy(&mut std::io::repeat(byte).take(size), &mut encoder).unwrap();
        encoder.finish().unwrap()
    }

    fn read(name: &str, bytes: &[u8]) -> Result<Vec<u32>, String> {
        let lines = LineKind::Probes.lines(Path::new(name), bytes).unwrap();
        lines.values().map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_whole_values_and_none_is_blank() {
        assert_eq!(read("a.jsonl", b"1\n2\n").unwrap(), [1, 2]);
        let frames = [
            zstd::encode_all(&b"1\n2"[..], 1),
            zstd::encode_all(&b"3\n"[..], 1),
        ];
        let frames = frames.map(Result::unwrap).concat();
        assert_eq!(read("a.jsonl.zst", &frames).unwrap(), [1, 23]);
        assert!(read("a.jsonl.zst", b"").unwrap().is_empty());
        for (bytes, part) in [
            (&b"1\n\n2\n"[..], "a.jsonl: line 2 is blank"),
            (b" \t\n", "a.jsonl: line 1 is blank"),
            (b"1\n2", "a.jsonl: line 2: it is cut short"),
            (b"1\nx\n", "a.jsonl: line 2: expected value"),
        ] {
            let error = read("a.jsonl", bytes).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(read("a.jsonl.zst", frames.split_last().unwrap().1).is_err());
    }

    #[test]
    fn nothing_is_held_beyond_its_bounds() {
        let line_bytes = LineKind::Probes.bounds().line_bytes;
        let error = read("a.jsonl.zst", &packed(line_bytes + 1, b' ')).unwrap_err();
        assert!(error.contains("line 1: it is longer than 16 MiB"), "{error}");
        let error = read("a.jsonl.zst", &packed(line_bytes, b'\n')).unwrap_err();
        assert!(error.contains("line 1 is blank"), "{error}");
        let line = vec![b'x'; (1 << 20) - 1];
        let frame = zstd::encode_all([line.as_slice(), b"\n"].concat().as_slice(), 1).unwrap();
        let frames = frame.repeat(129);
        let mut lines = LineKind::Probes.lines(Path::new("a.jsonl.zst"), &frames).unwrap();
        let error = loop {
            match lines.next_line() {
                Ok(line) => assert!(line.is_some()),
                Err(error) => break error.to_string(),
            }
        };
        let expected = "line 129: with it the file holds more than 128 MiB";
        assert!(error.contains(expected), "{error}");
    }
}
