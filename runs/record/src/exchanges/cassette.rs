//! The recorded exchanges of an episode, read back.

use super::line::Record;
use super::records::{Extent, add_lines, each_record};
use super::store::open_part;
use super::{ExchangeOutcome, Intent, Nearest, RequestPlace, Sent};
use crate::RecordError;
use ktd_agents::WireRequest;
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_hex;
use std::collections::BTreeMap;
use std::path::Path;

/// The recorded exchanges of an episode.
#[derive(Debug, Clone, Default)]
pub struct Cassette {
    /// In the order they were sent.
    sends: Vec<Sent>,
    /// The sends of each place; only the last one can be answered.
    places: BTreeMap<RequestPlace, Vec<usize>>,
    extent: Extent,
}

impl Cassette {
    /// Reads a store: the compressed part at `path`, and the open part beside it. What a kill tore off the end of either
    /// is left out; a missing file is an empty cassette.
    ///
    /// # Errors
    /// [`RecordError::File`] for a part that cannot be read or holds too much, for a whole line that does not hold a record,
    /// and for one that cannot stand where it does.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let compressed = LineKind::Exchanges.bytes_if_exists(path)?;
        Self::parse(path, &compressed.unwrap_or_default())
    }

    /// The store whose compressed part was read from `path`; the open part, where there is one, is read here.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(path: &Path, compressed: &[u8]) -> Result<Self, RecordError> {
        let open = LineKind::Exchanges
            .bytes_if_exists(&open_part(path))?
            .unwrap_or_default();
        let mut cassette = Self::default();
        let parts = (compressed, open.as_slice());
        cassette.extent = each_record(path, parts, |next, line| cassette.take(next, line))?;
        Ok(cassette)
    }

    /// The sends of a frame from the middle of a store, whose first record is `first`.
    pub(super) fn of_frame(path: &Path, first: u64, frame: &[u8]) -> Result<Self, RecordError> {
        let mut cassette = Self::default();
        let mut records = first;
        let mut lines = LineKind::Exchanges.lines(path, frame)?;
        add_lines(path, &mut lines, &mut records, &mut |next, line: &[u8]| {
            cassette.take(next, line)
        })?;
        Ok(cassette)
    }

    /// Adds a line where it is the next record; its number.
    fn take(&mut self, next: u64, line: &[u8]) -> Result<u64, String> {
        let (number, record) = Record::parse(line)?;
        if number == next {
            self.add(record)?;
        }
        Ok(number)
    }

    fn add(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Intent(intent) => self.intend(intent),
            Record::Outcome { at, outcome } => self.settle(at, outcome),
        }
    }

    fn intend(&mut self, intent: Intent) -> Result<(), String> {
        let at = intent.at;
        if self.has_attempt(at) {
            return Err(format!("{at} is sent again although its outcome is recorded"));
        }
        self.places.entry(at).or_default().push(self.sends.len());
        let outcome = None;
        self.sends.push(Sent { intent, outcome });
        Ok(())
    }

    fn settle(&mut self, at: RequestPlace, outcome: ExchangeOutcome) -> Result<(), String> {
        let last = self.places.get(&at).and_then(|sends| sends.last());
        let sent = last.and_then(|last| self.sends.get_mut(*last));
        let Some(sent) = sent.filter(|sent| sent.is_unknown()) else {
            return Err(format!("it is an outcome of {at}, which no request waits for"));
        };
        sent.outcome = Some(outcome);
        Ok(())
    }

    /// The outcome of a place, whose request must be the one asked now; `None` where it has to be sent (again).
    ///
    /// # Errors
    /// [`RecordError::RequestDiffers`] with the first difference.
    pub fn find(
        &self,
        at: RequestPlace,
        key: &str,
        request: &WireRequest,
    ) -> Result<Option<&ExchangeOutcome>, RecordError> {
        // A refused request may be fixed by changing it.
        let is_other = |sent: &Sent| sent.intent.key != key && (sent.is_unknown() || sent.answer().is_some());
        if self.of(at).any(is_other) {
            return Err(RecordError::RequestDiffers {
                step: at.step,
                ordinal: at.ordinal,
                nearest: self.nearest(at, request).map(Box::new),
            });
        }
        Ok(self.of(at).find_map(Sent::answer))
    }

    /// The recorded request that is most like one that is not recorded; `None` when nothing is recorded.
    #[must_use]
    pub fn nearest(&self, at: RequestPlace, request: &WireRequest) -> Option<Nearest> {
        let body = String::from_utf8_lossy(request.body());
        Nearest::of(&self.sends, at, request.path(), &body)
    }

    /// Whether an answer of a request is recorded: its reply's SHA-256 is the one given.
    #[must_use]
    pub fn has_reply(&self, step: usize, ordinal: u32, reply: &str) -> bool {
        let place = |attempt| RequestPlace {
            step,
            ordinal,
            attempt,
        };
        self.places
            .range(place(0)..=place(u32::MAX))
            .filter_map(|(at, _)| self.of(*at).find_map(Sent::answer)?.reply())
            .any(|recorded| sha256_hex(&recorded.body) == reply)
    }

    /// Whether an attempt at a request was answered, by a reply or a fault of the infrastructure.
    #[must_use]
    pub fn has_attempt(&self, at: RequestPlace) -> bool {
        self.of(at).any(|sent| sent.answer().is_some())
    }

    /// How many attempts at the last request of a step are recorded with an outcome.
    #[must_use]
    pub fn last_attempts(&self, step: usize) -> u32 {
        let place = |ordinal| RequestPlace {
            step,
            ordinal,
            attempt: 0,
        };
        let end = RequestPlace {
            attempt: u32::MAX,
            ..place(u32::MAX)
        };
        let mut of_step = self.places.range(place(0)..=end).rev();
        let Some((last, _)) = of_step.next() else {
            return 0;
        };
        let first = RequestPlace { attempt: 0, ..*last };
        // A stranger's record may number its attempts as it likes: those that are there are counted.
        let attempts = self.places.range(first..=*last).map(|(at, _)| *at);
        let attempts = attempts.filter(|at| self.has_attempt(*at));
        u32::try_from(attempts.count()).unwrap_or(u32::MAX)
    }

    /// Whether an attempt at a request was ever to be sent.
    #[must_use]
    pub fn has_send(&self, at: RequestPlace) -> bool {
        self.places.contains_key(&at)
    }

    /// All sends in the order they were made, answered, refused and unknown ones.
    pub fn sends(&self) -> impl Iterator<Item = &Sent> {
        self.sends.iter()
    }

    /// The sends whose outcome nobody knows: the program died between intent and outcome. They may have been charged.
    pub fn unknown(&self) -> impl Iterator<Item = &Sent> {
        self.sends().filter(|sent| sent.is_unknown())
    }

    /// The sends that a replay hears, by place.
    pub fn answered(&self) -> impl Iterator<Item = &Sent> {
        self.places
            .keys()
            .filter_map(|at| self.of(*at).find(|sent| sent.answer().is_some()))
    }

    /// How many sends there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.sends.len()
    }

    /// Whether nothing was ever to be sent.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sends.is_empty()
    }

    /// The lines of a store that holds the answered sends before a request of a step alone, 0-based: an open part.
    ///
    /// # Errors
    /// [`std::io::Error`] when they cannot be written as JSON.
    pub fn lines_before(&self, (step, ordinal): (usize, u32)) -> std::io::Result<Vec<u8>> {
        let mut lines = Vec::new();
        let mut seq = 0;
        for sent in self
            .answered()
            .filter(|sent| (sent.intent.at.step, sent.intent.at.ordinal) < (step, ordinal))
        {
            let at = sent.intent.at;
            lines.extend(Record::Intent(sent.intent.clone()).to_line(seq)?);
            seq += 1;
            if let Some(outcome) = sent.outcome.clone() {
                lines.extend(Record::Outcome { at, outcome }.to_line(seq)?);
                seq += 1;
            }
        }
        Ok(lines)
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
    fn of(&self, at: RequestPlace) -> impl Iterator<Item = &Sent> {
        let sends = self.places.get(&at).into_iter().flatten();
        sends.filter_map(|place| self.sends.get(*place))
    }
}

#[cfg(test)]
mod tests {
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
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = lines(records);
        bytes.truncate(bytes.len() - cut);
        std::fs::write(folder.path().join("x.jsonl"), bytes).unwrap();
        Cassette::read(&folder.path().join("x.jsonl.zst")).map_err(|error| error.to_string())
    }

    fn unknown(cassette: &Cassette) -> Vec<u32> {
        cassette.unknown().map(|sent| sent.intent.at.ordinal).collect()
    }

    #[test]
    fn an_intent_without_its_outcome_is_unknown() {
        let frames = [intent(0), outcome(0, reply()), intent(1), outcome(1, reply())];
        let whole = read(&frames, 0).unwrap();
        assert_eq!((whole.len(), whole.answered().count()), (2, 2));
        assert!(unknown(&whole).is_empty());
        let torn = read(&frames, 1).unwrap();
        assert_eq!(
            (torn.len(), torn.answered().count(), unknown(&torn)),
            (2, 1, vec![1])
        );
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
        let cassette = read(&frames, 0).unwrap();
        assert_eq!((cassette.len(), unknown(&cassette)), (4, vec![0, 1]));
        let outcomes: Vec<bool> = cassette.sends().map(|sent| sent.answer().is_some()).collect();
        assert_eq!(outcomes, [false, false, true, false]);
        // What a branch copies of it holds the answer alone.
        let copied = cassette.lines_before((2, 0)).unwrap();
        assert_eq!(copied, lines(&[intent(0), outcome(0, reply())]));
        assert!(cassette.lines_before((1, 0)).unwrap().is_empty());
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
        assert_eq!(
            (both.len(), both.answered().count(), both.torn_bytes()),
            (2, 2, 0)
        );
        // Killed within the frame.
        std::fs::write(&path, &frame[..frame.len() - 1]).unwrap();
        let torn = Cassette::read(&path).unwrap();
        assert_eq!((torn.len(), torn.answered().count()), (2, 2));
        assert_eq!(torn.torn_bytes(), u64::try_from(frame.len()).unwrap() - 1);
        // A record is missing between the parts.
        std::fs::write(&path, &frame).unwrap();
        std::fs::write(&open, intent(1).to_line(3).unwrap()).unwrap();
        let error = Cassette::read(&path).unwrap_err().to_string();
        assert!(error.contains("number 3"), "{error}");
    }
}
