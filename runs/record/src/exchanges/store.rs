//! The open store that intents and outcomes are appended to.
//!
//! New records are lines of the open part. When it has grown to a segment, its lines become one frame of the compressed
//! part and the open part is cut to nothing; records carry numbers, so a kill between the two loses and doubles nothing.
//! A finished store is one frame, and has no open part.

use super::line::Record;
use super::records::{ExchangeRecord, StoreLines, each_exchange, open_part, whole_frames};
use super::{Cassette, ExchangeOutcome, Intent, RequestPlace};
use crate::RecordError;
use crate::send_log::SendLog;
use ktd_io::frame::{DEFAULT_LEVEL, pack, pack_file};
use ktd_io::line_file::LineKind;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// From this size on, bytes, the open part becomes a segment.
const SEGMENT_BYTES: u64 = 4 << 20;

/// An open store that records are appended to. Its copies append to the same file, each record whole.
#[derive(Debug, Clone)]
pub struct ExchangeStore {
    /// The compressed part.
    path: PathBuf,
    /// `None` after a record that was not written whole: what would follow it could not be read.
    open: Arc<Mutex<Option<OpenPart>>>,
}

#[derive(Debug)]
struct OpenPart {
    file: File,
    bytes: u64,
    records: u64,
    /// Bytes of all records, unpacked.
    unpacked_bytes: u64,
    /// Whether the compressed part holds anything.
    has_segments: bool,
}

impl ExchangeStore {
    /// Opens a store to continue it after what `cassette` read; torn ends are cut off.
    ///
    /// # Errors
    /// [`RecordError::File`] when it cannot be opened or its torn end cannot be cut off.
    pub fn continue_after(path: &Path, cassette: &Cassette) -> Result<Self, RecordError> {
        let extent = cassette.extent();
        cut(path, extent.compressed_bytes)?;
        let open = open_part(path);
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&open)
            .map_err(RecordError::io("open", &open))?;
        cut(&open, extent.open_bytes)?;
        Ok(Self {
            path: path.to_owned(),
            open: Arc::new(Mutex::new(Some(OpenPart {
                file,
                bytes: extent.open_bytes,
                records: extent.records,
                unpacked_bytes: extent.unpacked_bytes,
                has_segments: 0 < extent.compressed_bytes,
            }))),
        })
    }

    /// Writes what is about to be sent, before it is.
    ///
    /// # Errors
    /// [`RecordError::File`]: it must not be sent then.
    pub fn intend(&self, intent: Intent) -> Result<(), RecordError> {
        self.append(&Record::Intent(intent))
    }

    /// Writes what came back for the last intent of a place.
    ///
    /// # Errors
    /// [`RecordError::File`]: nothing may hang on it then.
    pub fn settle(&self, at: RequestPlace, outcome: ExchangeOutcome) -> Result<(), RecordError> {
        self.append(&Record::Outcome { at, outcome })
    }

    /// Adds the answered sends of another record that come before a request of a step, 0-based.
    ///
    /// # Errors
    /// As [`each_exchange`], and as [`Self::intend`].
    pub fn add_before(&self, (step, ordinal): (usize, u32), other: &Cassette) -> Result<(), RecordError> {
        let is_added = |at: RequestPlace, send: usize| {
            (at.step, at.ordinal) < (step, ordinal) && other.is_answered(at, send)
        };
        each_exchange(other.path(), |exchange| match exchange {
            ExchangeRecord::Intent { send, intent } if is_added(intent.at, send) => {
                self.intend(intent.clone())
            }
            ExchangeRecord::Outcome {
                send, at, outcome, ..
            } if is_added(at, send) => self.settle(at, outcome.clone()),
            ExchangeRecord::Intent { .. }
            | ExchangeRecord::Outcome { .. }
            | ExchangeRecord::Unknown { .. } => Ok(()),
        })
    }

    /// When what was sent was sent, and what it cost.
    #[must_use]
    pub fn send_log(&self) -> SendLog {
        SendLog::beside(&self.path)
    }

    /// One record, one write.
    fn append(&self, record: &Record) -> Result<(), RecordError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(part) = open.as_mut() else {
            let error = std::io::Error::other("the record before was not written whole");
            return Err(RecordError::io("write", &self.path)(error));
        };
        let line = record
            .to_line(part.records)
            .map_err(RecordError::io("write a record of", &self.path))?;
        let written = part.file.write_all(&line);
        if written.is_err() {
            *open = None;
            return written.map_err(RecordError::io("write", &self.path));
        }
        let bytes = u64::try_from(line.len()).unwrap_or(0);
        part.records += 1;
        part.bytes += bytes;
        part.unpacked_bytes += bytes;
        if SEGMENT_BYTES <= part.bytes
            && let Err(error) = self.roll(part)
        {
            // A frame after a torn one could not be read. The records stand in the open part.
            *open = None;
            return Err(error);
        }
        Ok(())
    }

    /// Makes the open part a frame of the compressed part.
    fn roll(&self, part: &mut OpenPart) -> Result<(), RecordError> {
        let lines = LineKind::Exchanges.bytes(&open_part(&self.path))?;
        let frame = pack(&lines, DEFAULT_LEVEL).map_err(RecordError::io("compress", &self.path))?;
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .and_then(|mut file| file.write_all(&frame))
            .map_err(RecordError::io("write", &self.path))?;
        part.file.set_len(0).map_err(RecordError::io("cut", &self.path))?;
        part.bytes = 0;
        part.has_segments = true;
        Ok(())
    }

    /// Whether it has grown beyond one segment, so that finishing it takes a second or longer.
    #[must_use]
    pub fn is_long(&self) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().is_some_and(|part| part.has_segments)
    }

    /// Finishes the store: one frame of all records, and no open part. Nothing can be appended afterwards.
    ///
    /// # Errors
    /// [`RecordError::File`] when it cannot be read or written; what was recorded stands then.
    pub fn finish(&self) -> Result<(), RecordError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.take()
            .map_or(Ok(()), |part| compact(&self.path, part.unpacked_bytes))
    }
}

fn cut(path: &Path, whole_bytes: u64) -> Result<(), RecordError> {
    let size = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RecordError::io("read", path)(error)),
    };
    if size == whole_bytes {
        return Ok(());
    }
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|file| file.set_len(whole_bytes))
        .map_err(RecordError::io("cut the torn end of", path))
}

/// Writes both parts as one frame of so many bytes, line by line, then removes the open part.
fn compact(path: &Path, unpacked_bytes: u64) -> Result<(), RecordError> {
    let open = open_part(path);
    let open_bytes = std::fs::metadata(&open)
        .map_err(RecordError::io("read", &open))?
        .len();
    let frames = whole_frames(path)?;
    if (frames.count, frames.torn_bytes, open_bytes) != (1, 0, 0) {
        pack_file(path, Some(unpacked_bytes), |write| {
            let mut lines = StoreLines::open(path)?;
            while lines.advance()?.is_some() {
                write(lines.line())?;
                write(b"\n")?;
            }
            Ok::<_, RecordError>(())
        })?;
    }
    std::fs::remove_file(&open).map_err(RecordError::io("remove", &open))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ordinal: u32) -> RequestPlace {
        RequestPlace {
            step: 1,
            ordinal,
            attempt: 0,
        }
    }

    fn intent(ordinal: u32, bytes: usize) -> Intent {
        Intent {
            at: at(ordinal),
            key: "k".to_owned(),
            path: "/p".to_owned(),
            request: format!("{{\"n\":{ordinal},\"text\":\"{}\"}}", "abc ".repeat(bytes / 4)),
        }
    }

    fn lines_of(path: &Path, bytes: &[u8]) -> usize {
        let lines = LineKind::Exchanges.lines(path, bytes).unwrap();
        lines.values::<serde::de::IgnoredAny>().unwrap().len()
    }

    #[test]
    fn a_finished_store_is_one_frame_of_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exchanges.jsonl.zst");
        // Two segments and a half.
        for ordinal in 0..10 {
            let cassette = Cassette::read(&path).unwrap();
            assert_eq!(cassette.len(), usize::try_from(ordinal).unwrap());
            let store = ExchangeStore::continue_after(&path, &cassette).unwrap();
            // Five megabytes make a segment.
            assert_eq!(store.is_long(), 3 < ordinal, "{ordinal}");
            store.intend(intent(ordinal, 1 << 20)).unwrap();
            store
                .settle(at(ordinal), ExchangeOutcome::Refused { status: None })
                .unwrap();
        }
        let store = ExchangeStore::continue_after(&path, &Cassette::read(&path).unwrap()).unwrap();
        store.finish().unwrap();
        store.finish().unwrap();
        assert!(store.intend(intent(99, 4)).is_err());
        assert!(!open_part(&path).exists());
        let bytes = std::fs::read(&path).unwrap();
        let whole = whole_frames(&path).unwrap();
        assert_eq!((whole.count, whole.torn_bytes), (1, 0));
        assert!(bytes.len() < 64 << 10, "{}", bytes.len());
        assert_eq!(lines_of(&path, &bytes), 20);
        let cassette = Cassette::read(&path).unwrap();
        assert_eq!((cassette.len(), cassette.torn_bytes()), (10, 0));
    }

    #[test]
    fn a_segment_that_cannot_be_written_loses_nothing_and_stops_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exchanges.jsonl.zst");
        let store = ExchangeStore::continue_after(&path, &Cassette::default()).unwrap();
        // No frame can be appended to a directory.
        std::fs::create_dir(&path).unwrap();
        let large = usize::try_from(SEGMENT_BYTES).unwrap();
        assert!(store.intend(intent(0, large)).is_err());
        assert!(store.clone().intend(intent(1, 4)).is_err());
        std::fs::remove_dir(&path).unwrap();
        let cassette = Cassette::read(&path).unwrap();
        assert_eq!((cassette.len(), cassette.torn_bytes()), (1, 0));
        let again = ExchangeStore::continue_after(&path, &cassette).unwrap();
        again
            .settle(at(0), ExchangeOutcome::Refused { status: None })
            .unwrap();
        again.finish().unwrap();
        assert_eq!(Cassette::read(&path).unwrap().len(), 1);
    }

    #[test]
    fn what_a_kill_left_of_finishing_is_finished_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exchanges.jsonl.zst");
        let store = ExchangeStore::continue_after(&path, &Cassette::default()).unwrap();
        store.intend(intent(0, 4)).unwrap();
        let lines = std::fs::read(open_part(&path)).unwrap();
        store.finish().unwrap();
        // The frame was written, and the open part was not yet removed.
        std::fs::write(open_part(&path), lines).unwrap();
        let cassette = Cassette::read(&path).unwrap();
        assert_eq!(cassette.len(), 1);
        let again = ExchangeStore::continue_after(&path, &cassette).unwrap();
        again.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(lines_of(&path, &bytes), 1);
    }
}
