//! The recorded exchanges of an episode, found by their place.

use super::records::{ExchangeRecord, Extent, StoreLines, each_exchange, read_exchanges};
use super::{ExchangeOutcome, Nearest, RequestPlace};
use crate::RecordError;
use crate::nearest_request::NearestSearch;
use ktd_agents::WireRequest;
use ktd_io::sha256::sha256_hex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The recorded exchanges of an episode: an index of what was sent, and what came back. No request is held, and no reply that
/// the compressed part is read for once more.
#[derive(Debug, Default)]
pub struct Cassette {
    path: PathBuf,
    /// By place, and by how many were to be sent before; only the last one of a place can be answered.
    sends: BTreeMap<(RequestPlace, usize), IndexedSend>,
    extent: Extent,
    /// Outcomes that are held, by the number of their record.
    held: BTreeMap<u64, ExchangeOutcome>,
    /// The compressed part up to the outcome that was asked for last.
    reading: Mutex<Option<StoreLines>>,
}

#[derive(Debug)]
struct IndexedSend {
    key: Box<str>,
    outcome: Option<IndexedOutcome>,
}

#[derive(Debug, Clone, Copy)]
struct IndexedOutcome {
    record: u64,
    is_answer: bool,
}

impl IndexedSend {
    fn answer(&self) -> Option<IndexedOutcome> {
        self.outcome.filter(|outcome| outcome.is_answer)
    }
}

impl Cassette {
    /// Reads a store: the compressed part at `path`, and the open part beside it. What a kill tore off the end of either
    /// is left out; a missing file is an empty cassette. Every outcome is held, so that they may be asked for in any order.
    ///
    /// # Errors
    /// As [`each_exchange`].
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        Self::index(path, |_| true)
    }

    /// The same of a store whose outcomes are asked for in the order in which they were recorded: those of the compressed
    /// part are read again one by one, and none is held. In another order each would unpack all that lies before it.
    ///
    /// # Errors
    /// As [`each_exchange`].
    pub fn read_in_order(path: &Path) -> Result<Self, RecordError> {
        Self::index(path, |is_closed| !is_closed)
    }

    fn index(path: &Path, is_held: impl Fn(bool) -> bool) -> Result<Self, RecordError> {
        let mut cassette = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        cassette.extent = read_exchanges(path, |lines, exchange| {
            match exchange {
                ExchangeRecord::Intent { send, intent } => {
                    let key = intent.key.as_str().into();
                    let sent = IndexedSend { key, outcome: None };
                    cassette.sends.insert((intent.at, send), sent);
                }
                ExchangeRecord::Outcome {
                    send, at, outcome, ..
                } => {
                    let (record, is_answer) = (lines.records(), outcome.is_answer());
                    if let Some(sent) = cassette.sends.get_mut(&(at, send)) {
                        sent.outcome = Some(IndexedOutcome { record, is_answer });
                    }
                    if is_held(lines.is_closed()) {
                        cassette.held.insert(record, outcome.clone());
                    }
                }
                ExchangeRecord::Unknown { .. } => {}
            }
            Ok(())
        })?;
        Ok(cassette)
    }

    /// The outcome of a place, whose request must be the one asked now; `None` where it has to be sent (again).
    ///
    /// # Errors
    /// [`RecordError::RequestDiffers`] with the first difference; [`RecordError::File`].
    pub fn find(
        &self,
        at: RequestPlace,
        key: &str,
        request: &WireRequest,
    ) -> Result<Option<ExchangeOutcome>, RecordError> {
        // A refused request may be fixed by changing it.
        let is_other =
            |sent: &IndexedSend| *sent.key != *key && (sent.outcome.is_none() || sent.answer().is_some());
        if self.of(at).any(is_other) {
            return Err(RecordError::RequestDiffers {
                step: at.step,
                ordinal: at.ordinal,
                nearest: self.nearest(at, request)?.map(Box::new),
            });
        }
        self.answer(at)
    }

    /// The recorded request that is most like one that is not recorded; `None` when nothing is recorded.
    ///
    /// # Errors
    /// As [`each_exchange`].
    pub fn nearest(&self, at: RequestPlace, request: &WireRequest) -> Result<Option<Nearest>, RecordError> {
        let body = String::from_utf8_lossy(request.body());
        let mut search = NearestSearch::new(at, request.path(), &body);
        each_exchange(&self.path, |exchange| {
            if let ExchangeRecord::Intent { intent, .. } = exchange {
                search.compare(intent);
            }
            Ok(())
        })?;
        Ok(search.found())
    }

    /// Whether an answer of a request is recorded: its reply's SHA-256 is the one given.
    ///
    /// # Errors
    /// [`RecordError::File`] where it cannot be read again.
    pub fn has_reply(&self, step: usize, ordinal: u32, reply: &str) -> Result<bool, RecordError> {
        let attempts = RequestPlace::attempts(step, ordinal);
        let attempts = self
            .sends
            .range((*attempts.start(), 0)..=(*attempts.end(), usize::MAX));
        for ((at, _), sent) in attempts {
            let answer = sent.answer().map(|_| self.answer(*at)).transpose()?.flatten();
            let recorded = answer.as_ref().and_then(ExchangeOutcome::reply);
            if recorded.is_some_and(|recorded| sha256_hex(&recorded.body) == reply) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an attempt at a request was answered, by a reply or a fault of the infrastructure.
    #[must_use]
    pub fn has_attempt(&self, at: RequestPlace) -> bool {
        self.of(at).any(|sent| sent.answer().is_some())
    }

    /// How many attempts at the last request of a step are recorded with an outcome.
    #[must_use]
    pub fn last_attempts(&self, step: usize) -> u32 {
        let first = *RequestPlace::attempts(step, 0).start();
        let end = *RequestPlace::attempts(step, u32::MAX).end();
        let of_step = || self.sends.range((first, 0)..=(end, usize::MAX));
        let last = of_step().next_back().map(|((last, _), _)| last.ordinal);
        // A stranger's record may number its attempts as it likes: those that are there are counted.
        let attempts =
            of_step().filter(|((at, _), sent)| Some(at.ordinal) == last && sent.answer().is_some());
        u32::try_from(attempts.count()).unwrap_or(u32::MAX)
    }

    /// Whether an attempt at a request was ever to be sent.
    #[must_use]
    pub fn has_send(&self, at: RequestPlace) -> bool {
        self.of(at).next().is_some()
    }

    /// How many sends of a request have no outcome: the program was killed before it came.
    #[must_use]
    pub fn lost_sends(&self, step: usize, ordinal: u32) -> usize {
        let attempts = RequestPlace::attempts(step, ordinal);
        let sends = self
            .sends
            .range((*attempts.start(), 0)..=(*attempts.end(), usize::MAX));
        sends.filter(|(_, sent)| sent.outcome.is_none()).count()
    }

    /// How many sends there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sends.len()
    }

    /// Whether nothing was ever to be sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sends.is_empty()
    }

    /// Where it was read.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a send was answered.
    pub(super) fn is_answered(&self, at: RequestPlace, send: usize) -> bool {
        let sent = self.sends.get(&(at, send));
        sent.is_some_and(|sent| sent.answer().is_some())
    }

    /// Bytes at the end of the store that are no whole record: torn by a kill, or added by somebody.
    #[must_use]
    pub const fn torn_bytes(&self) -> u64 {
        self.extent.torn_bytes
    }

    pub(super) const fn extent(&self) -> Extent {
        self.extent
    }

    /// The sends of a place, in order.
    fn of(&self, at: RequestPlace) -> impl Iterator<Item = &IndexedSend> {
        self.sends.range((at, 0)..=(at, usize::MAX)).map(|(_, sent)| sent)
    }

    /// What a replay hears at a place.
    fn answer(&self, at: RequestPlace) -> Result<Option<ExchangeOutcome>, RecordError> {
        let answer = self.of(at).find_map(IndexedSend::answer);
        answer.map(|answer| self.outcome(answer.record)).transpose()
    }

    /// The outcome that a record holds, read again where it is not held.
    fn outcome(&self, record: u64) -> Result<ExchangeOutcome, RecordError> {
        if let Some(held) = self.held.get(&record) {
            return Ok(held.clone());
        }
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = reading.take().filter(|lines| lines.records() < record);
        let mut lines = ahead.map_or_else(|| StoreLines::open(&self.path), Ok)?;
        while lines.records() < record && lines.advance()?.is_some() {}
        match lines.record() {
            Ok(super::line::Record::Outcome { outcome, .. }) if lines.records() == record => {
                *reading = Some(lines);
                Ok(outcome)
            }
            _ => Err(lines.damaged("it was changed while it was read")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Record;
    use super::super::{ExchangeStore, Intent};
    use super::*;

    fn place(ordinal: u32) -> RequestPlace {
        RequestPlace {
            step: 1,
            ordinal,
            attempt: 0,
        }
    }

    fn intent(ordinal: u32) -> Record {
        Record::Intent(Intent {
            at: place(ordinal),
            key: format!("key of {ordinal}"),
            path: "/chat/completions".to_owned(),
            request: format!("{{\"n\":{ordinal}}}"),
        })
    }

    fn outcome(ordinal: u32, outcome: ExchangeOutcome) -> Record {
        let at = place(ordinal);
        Record::Outcome { at, outcome }
    }

    fn reply() -> ExchangeOutcome {
        ExchangeOutcome::of(&Ok(ktd_agents::WireReply::new(200, b"{}".to_vec())))
    }

    const REFUSED: ExchangeOutcome = ExchangeOutcome::Refused { status: Some(401) };

    fn lines(records: &[Record]) -> Vec<u8> {
        let numbered = records.iter().zip(0_u64..);
        numbered
            .flat_map(|(record, seq)| record.to_line(seq).unwrap())
            .collect()
    }

    /// Writes records as an open part, and cuts some bytes off their end.
    fn read(records: &[Record], cut: usize) -> Result<Cassette, String> {
        read_in(tempfile::tempdir().unwrap().path(), records, cut)
    }

    fn read_in(folder: &Path, records: &[Record], cut: usize) -> Result<Cassette, String> {
        let mut bytes = lines(records);
        bytes.truncate(bytes.len() - cut);
        std::fs::write(folder.join("x.jsonl"), bytes).unwrap();
        Cassette::read(&folder.join("x.jsonl.zst")).map_err(|error| error.to_string())
    }

    fn unknown(cassette: &Cassette) -> Vec<u32> {
        let sends = cassette.sends.iter().filter(|(_, sent)| sent.outcome.is_none());
        sends.map(|((at, _), _)| at.ordinal).collect()
    }

    fn answered(cassette: &Cassette) -> usize {
        cassette
            .sends
            .values()
            .filter(|sent| sent.answer().is_some())
            .count()
    }

    #[test]
    fn an_intent_without_its_outcome_is_unknown() {
        let frames = [intent(0), outcome(0, reply()), intent(1), outcome(1, reply())];
        let whole = read(&frames, 0).unwrap();
        assert_eq!((whole.len(), answered(&whole)), (2, 2));
        assert!(unknown(&whole).is_empty());
        let torn = read(&frames, 1).unwrap();
        assert_eq!((torn.len(), answered(&torn), unknown(&torn)), (2, 1, vec![1]));
        assert!(torn.has_send(place(1)) && !torn.has_attempt(place(1)));
    }

    #[test]
    fn a_place_is_sent_again_until_it_is_answered() {
        let frames = [
            intent(0),
            intent(0),
            outcome(0, REFUSED),
            intent(0),
            outcome(0, reply()),
            intent(1),
        ];
        let folder = tempfile::tempdir().unwrap();
        let cassette = read_in(folder.path(), &frames, 0).unwrap();
        assert_eq!((cassette.len(), unknown(&cassette)), (4, vec![0, 1]));
        let outcomes: Vec<bool> = cassette
            .sends
            .values()
            .map(|sent| sent.answer().is_some())
            .collect();
        assert_eq!(outcomes, [false, false, true, false]);
        // What a branch copies of it holds the answer alone.
        let copy = |name: &str, before: (usize, u32)| {
            let path = folder.path().join(name);
            let store = ExchangeStore::continue_after(&path, &Cassette::default()).unwrap();
            store.add_before(before, &cassette).unwrap();
            drop(store);
            Cassette::read(&path).unwrap()
        };
        let copied = copy("copied.jsonl.zst", (2, 0));
        assert_eq!((copied.len(), answered(&copied)), (1, 1));
        assert!(copy("empty.jsonl.zst", (1, 0)).is_empty());
    }

    #[test]
    fn what_cannot_stand_where_it_does_is_damage() {
        for (frames, part) in [
            (vec![outcome(0, reply())], "no request waits for"),
            (vec![intent(0), outcome(1, reply())], "no request waits for"),
            (
                vec![intent(0), outcome(0, REFUSED), outcome(0, reply())],
                "no request waits for",
            ),
            (vec![intent(0), outcome(0, reply()), intent(0)], "is sent again"),
        ] {
            let error = read(&frames, 0).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_segment_may_stand_in_both_parts_and_may_be_torn() {
        let folder = tempfile::tempdir().unwrap();
        let (open, path) = (folder.path().join("x.jsonl"), folder.path().join("x.jsonl.zst"));
        let records = [intent(0), outcome(0, reply()), intent(1), outcome(1, reply())];
        let frame = ktd_io::frame::pack(&lines(&records[..2]), 1).unwrap();
        // Killed between the frame and the cut of the open part.
        std::fs::write(&path, &frame).unwrap();
        std::fs::write(&open, lines(&records)).unwrap();
        let both = Cassette::read(&path).unwrap();
        assert_eq!((both.len(), answered(&both), both.torn_bytes()), (2, 2, 0));
        // Killed within the frame.
        std::fs::write(&path, &frame[..frame.len() - 1]).unwrap();
        let torn = Cassette::read(&path).unwrap();
        assert_eq!((torn.len(), answered(&torn)), (2, 2));
        assert_eq!(torn.torn_bytes(), u64::try_from(frame.len()).unwrap() - 1);
        // A record is missing between the parts.
        std::fs::write(&path, &frame).unwrap();
        std::fs::write(&open, intent(1).to_line(3).unwrap()).unwrap();
        let error = Cassette::read(&path).unwrap_err().to_string();
        assert!(error.contains("number 3"), "{error}");
    }
}
