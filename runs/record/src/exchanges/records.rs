//! The records of a store in order, from both of its parts, of which no more than one line is held.

use super::line::{Record, place};
use super::{ExchangeOutcome, Intent, RequestPlace, Sent};
use crate::RecordError;
use ktd_io::frame::WholeFrames;
use ktd_io::line_file::{LineKind, LineReader};
use ktd_io::whole_file::open_regular;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The most records of a store: an episode of two thousand steps whose twenty requests are all sent six times has half a
/// million. Each takes some hundred bytes of an index.
const RECORDS_MAX: u64 = 1 << 20;

/// How far the two parts of a store are whole; what follows is torn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Records.
    pub(super) records: u64,
    /// Bytes of their lines, unpacked.
    pub(super) unpacked_bytes: u64,
    /// Bytes of whole frames in the compressed part.
    pub(super) compressed_bytes: u64,
    /// Bytes of whole lines in the open part.
    pub(super) open_bytes: u64,
    /// Bytes after them in both.
    pub(super) torn_bytes: u64,
}

/// The open part of a store whose compressed part is at `path`.
pub(super) fn open_part(path: &Path) -> PathBuf {
    path.with_extension("")
}

/// The lines of a store, read one by one.
#[derive(Debug)]
pub(super) struct StoreLines {
    path: PathBuf,
    lines: LineReader<'static>,
    /// The lines of the open part, until those of the compressed part have been read.
    beside: Option<LineReader<'static>>,
    /// Records of the compressed part.
    closed: u64,
    extent: Extent,
}

impl StoreLines {
    /// The store whose compressed part is at `path`; a missing part has no records. The open part, which is short, is read at
    /// once: a writer that closes a frame in between moves records from it to the compressed part, and those that are read
    /// twice are passed over.
    ///
    /// # Errors
    /// [`RecordError::File`] for a part that cannot be read or holds too much, and for a damaged frame.
    pub(super) fn open(path: &Path) -> Result<Self, RecordError> {
        let open = open_part(path);
        let beside = LineKind::Exchanges.bytes_if_exists(&open)?.unwrap_or_default();
        let frames = whole_frames(path)?;
        let lines = if 0 < frames.bytes {
            LineKind::Exchanges.open_within(path, 0..frames.bytes)?
        } else {
            LineKind::Exchanges.lines(path, Vec::new())?
        };
        Ok(Self {
            path: path.to_owned(),
            lines,
            beside: Some(LineKind::Exchanges.lines(&open, beside)?),
            closed: 0,
            extent: Extent {
                compressed_bytes: frames.bytes,
                torn_bytes: frames.torn_bytes,
                ..Extent::default()
            },
        })
    }

    /// Goes on to the next record, of which the step is given; `None` at the end. A record before the next one was read already,
    /// for a kill can leave it in both parts.
    ///
    /// # Errors
    /// [`RecordError::File`] for a part that holds too much, for a line that is no record or is out of order, and for a torn frame
    /// whose records do not stand in the open part: without them replies would be lost.
    pub(super) fn advance(&mut self) -> Result<Option<usize>, RecordError> {
        loop {
            let next = self.extent.records;
            while let Some(line) = self.lines.next_line()? {
                let bytes = u64::try_from(line.len() + 1).unwrap_or(u64::MAX);
                let (number, step) = place(line).map_err(|what| self.damaged(&what))?;
                if next < number {
                    return Err(self.damaged(&format!("the next record is number {number}")));
                }
                if number == next {
                    if next == RECORDS_MAX {
                        return Err(self.damaged(&format!("it holds more than {RECORDS_MAX} records")));
                    }
                    self.extent.records += 1;
                    self.extent.unpacked_bytes += bytes;
                    return Ok(Some(step));
                }
            }
            let Some(beside) = self.beside.take() else {
                return self.end().map(|()| None);
            };
            self.lines.check_whole()?;
            self.lines = beside;
            self.closed = next;
        }
    }

    /// What the two parts are at the end.
    fn end(&mut self) -> Result<(), RecordError> {
        let torn = self.extent.torn_bytes;
        // Killed after the frame and before the cut, all of it stands in the compressed part already.
        if self.closed < self.extent.records {
            self.extent.open_bytes = self.lines.whole_bytes();
        } else if 0 < torn {
            let what =
                format!("its last {torn} bytes are no whole frame: it is damaged, cut short or added to");
            return Err(RecordError::damaged(&self.path, what));
        }
        self.extent.torn_bytes = torn + self.lines.torn_bytes();
        Ok(())
    }

    /// The record that was gone on to.
    ///
    /// # Errors
    /// [`RecordError::File`] for a line that does not hold one.
    pub(super) fn record(&self) -> Result<Record, RecordError> {
        let record = Record::parse(self.lines.line());
        record
            .map(|(_, record)| record)
            .map_err(|what| self.damaged(&what))
    }

    /// Its line, without the line feed.
    pub(super) fn line(&self) -> &[u8] {
        self.lines.line()
    }

    /// How many records were gone on to.
    pub(super) const fn records(&self) -> u64 {
        self.extent.records
    }

    /// Whether the record stands in the compressed part.
    pub(super) const fn is_closed(&self) -> bool {
        self.beside.is_some()
    }

    /// How far the store is whole, once its end was reached.
    pub(super) const fn extent(&self) -> Extent {
        self.extent
    }

    /// Damage after the record that was gone on to.
    pub(super) fn damaged(&self, what: &str) -> RecordError {
        let is_open = self.beside.is_none();
        let open = is_open.then(|| open_part(&self.path));
        let what = format!("after record {}: {what}", self.extent.records);
        RecordError::damaged(open.as_ref().unwrap_or(&self.path), what)
    }
}

/// The frames of the compressed part, where there is one.
pub(super) fn whole_frames(path: &Path) -> Result<WholeFrames, RecordError> {
    if !path.exists() {
        return Ok(WholeFrames::default());
    }
    let frames = WholeFrames::of(&mut BufReader::new(open_regular(path)?));
    let frames = frames.map_err(RecordError::io("read", path))?;
    if frames.has_later {
        let what = format!(
            "the frame at byte {}: it is damaged, and others follow it",
            frames.bytes
        );
        return Err(RecordError::damaged(path, what));
    }
    Ok(frames)
}

/// What a record of a store says.
#[derive(Debug, Clone, Copy)]
pub enum ExchangeRecord<'r> {
    /// A request is about to be sent.
    Intent {
        /// How many were to be sent before it.
        send: usize,
        /// The request.
        intent: &'r Intent,
    },
    /// This came back for it.
    Outcome {
        /// How many were to be sent before it.
        send: usize,
        /// Which request.
        at: RequestPlace,
        /// How long it was.
        request_bytes: usize,
        /// What came back.
        outcome: &'r ExchangeOutcome,
    },
    /// Nobody knows what came back for it: it was sent again, or the store ends.
    Unknown {
        /// Which request.
        at: RequestPlace,
        /// How long it was.
        request_bytes: usize,
    },
}

impl<'r> ExchangeRecord<'r> {
    /// Which request it is of.
    #[must_use]
    pub const fn at(&self) -> RequestPlace {
        match *self {
            Self::Intent { intent, .. } => intent.at,
            Self::Outcome { at, .. } | Self::Unknown { at, .. } => at,
        }
    }

    /// Which request it is of, how long that was, and what came back for it; `None` before anything did.
    #[must_use]
    pub const fn settled(&self) -> Option<(RequestPlace, usize, Option<&'r ExchangeOutcome>)> {
        match *self {
            Self::Intent { .. } => None,
            Self::Outcome {
                at,
                request_bytes,
                outcome,
                ..
            } => Some((at, request_bytes, Some(outcome))),
            Self::Unknown { at, request_bytes } => Some((at, request_bytes, None)),
        }
    }
}

/// The last send of a place.
#[derive(Debug, Clone, Copy)]
struct LastSend {
    send: usize,
    request_bytes: usize,
    state: SendState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendState {
    /// It waits for its outcome.
    Waits,
    /// It was answered: it is not sent again.
    Answered,
    /// It was refused.
    Refused,
}

/// Which requests wait for what, as a store is read.
#[derive(Debug, Default)]
struct Places {
    places: BTreeMap<RequestPlace, LastSend>,
    sends: usize,
}

impl Places {
    /// Takes the next record: the send that it is of, and the one before it at the same place.
    fn take(&mut self, record: &Record) -> Result<(LastSend, Option<LastSend>), String> {
        match record {
            Record::Intent(intent) => {
                let last = LastSend {
                    send: self.sends,
                    request_bytes: intent.request.len(),
                    state: SendState::Waits,
                };
                self.sends += 1;
                let before = self.places.insert(intent.at, last);
                match before {
                    Some(before) if before.state == SendState::Answered => Err(format!(
                        "{} is sent again although its outcome is recorded",
                        intent.at
                    )),
                    _ => Ok((last, before)),
                }
            }
            Record::Outcome { at, outcome } => {
                let last = self.places.get_mut(at);
                let Some(last) = last.filter(|last| last.state == SendState::Waits) else {
                    return Err(format!("it is an outcome of {at}, which no request waits for"));
                };
                last.state = if outcome.is_answer() {
                    SendState::Answered
                } else {
                    SendState::Refused
                };
                Ok((*last, None))
            }
        }
    }

    /// The requests that still wait, in the order in which they were to be sent.
    fn waiting(&self) -> BTreeMap<usize, ExchangeRecord<'_>> {
        let waiting = self
            .places
            .iter()
            .filter(|(_, last)| last.state == SendState::Waits);
        let waiting = waiting.map(|(at, last)| (last.send, last.unknown(*at)));
        waiting.collect()
    }
}

impl LastSend {
    const fn unknown<'r>(self, at: RequestPlace) -> ExchangeRecord<'r> {
        let request_bytes = self.request_bytes;
        ExchangeRecord::Unknown { at, request_bytes }
    }
}

/// Hands over what a store says, record by record: the compressed part at `path`, then the open part beside it. What a kill
/// tore off the end of either is left out; a missing file has no records.
///
/// # Errors
/// [`RecordError::File`] for a part that cannot be read or holds too much, for a whole line that does not hold a record, and
/// for one that cannot stand where it does; what `look` returns.
pub fn each_exchange(
    path: &Path,
    mut look: impl FnMut(ExchangeRecord<'_>) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    read_exchanges(path, |_, exchange| look(exchange)).map(|_| ())
}

/// The same, with the place of each record; how far the store is whole.
pub(super) fn read_exchanges(
    path: &Path,
    mut look: impl FnMut(&StoreLines, ExchangeRecord<'_>) -> Result<(), RecordError>,
) -> Result<Extent, RecordError> {
    let (mut lines, mut places) = (StoreLines::open(path)?, Places::default());
    while lines.advance()?.is_some() {
        let record = lines.record()?;
        let (last, before) = places.take(&record).map_err(|what| lines.damaged(&what))?;
        match &record {
            Record::Intent(intent) => {
                if let Some(before) = before.filter(|before| before.state == SendState::Waits) {
                    look(&lines, before.unknown(intent.at))?;
                }
                let send = last.send;
                look(&lines, ExchangeRecord::Intent { send, intent })?;
            }
            Record::Outcome { at, outcome } => look(
                &lines,
                ExchangeRecord::Outcome {
                    send: last.send,
                    at: *at,
                    request_bytes: last.request_bytes,
                    outcome,
                },
            )?,
        }
    }
    for exchange in places.waiting().into_values() {
        look(&lines, exchange)?;
    }
    Ok(lines.extent())
}

/// Every send of a store that is known to be short, in the order they were made.
///
/// # Errors
/// As [`each_exchange`].
pub fn read_sends(path: &Path) -> Result<Vec<Sent>, RecordError> {
    let mut sends: Vec<Sent> = Vec::new();
    each_exchange(path, |exchange| {
        match exchange {
            ExchangeRecord::Intent { intent, .. } => sends.push(Sent {
                intent: intent.clone(),
                outcome: None,
            }),
            ExchangeRecord::Outcome { send, outcome, .. } => {
                if let Some(sent) = sends.get_mut(send) {
                    sent.outcome = Some(outcome.clone());
                }
            }
            ExchangeRecord::Unknown { .. } => {}
        }
        Ok(())
    })?;
    Ok(sends)
}
