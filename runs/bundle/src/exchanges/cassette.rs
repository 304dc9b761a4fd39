//! The recorded exchanges of an episode, read back.

use super::frame::{Frame, Settled, first_frame, has_later_record};
use super::{Intent, Nearest, Outcome, Place, Sent};
use crate::BundleError;
use ktd_agents::WireRequest;
use ktd_io::sha256::sha256_hex;
use std::collections::BTreeMap;
use std::path::Path;

/// The recorded exchanges of an episode.
#[derive(Debug, Clone, Default)]
pub struct Cassette {
    /// In the order they were sent.
    sends: Vec<Sent>,
    /// The sends of each place; only the last one can be answered.
    places: BTreeMap<Place, Vec<usize>>,
    /// Bytes of complete frames; what follows is torn.
    whole_bytes: u64,
}

impl Cassette {
    /// Reads a store. A torn last frame is left out; a missing file is an empty cassette.
    ///
    /// # Errors
    /// [`BundleError::Io`], or [`BundleError::Damaged`] for a complete frame that does not hold a record, or one that
    /// cannot stand where it does.
    pub fn read(path: &Path) -> Result<Self, BundleError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(BundleError::io("read", path)(error)),
        };
        let mut cassette = Self::default();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let damaged =
                |what: String| BundleError::damaged(path, format!("the record at byte {at}: {what}"));
            let Some(frame) = first_frame(rest) else {
                if has_later_record(rest) {
                    return Err(damaged("it is damaged, and others follow it".to_owned()));
                }
                break;
            };
            let read = Frame::parse(frame).map_err(damaged)?;
            cassette.add(read).map_err(damaged)?;
            at += frame.len();
        }
        cassette.whole_bytes = u64::try_from(at).unwrap_or(u64::MAX);
        Ok(cassette)
    }

    fn add(&mut self, frame: Frame) -> Result<(), String> {
        match frame {
            Frame::Intent(intent) => self.intend(intent),
            Frame::Outcome(settled) => self.settle(settled),
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

    fn settle(&mut self, Settled { at, outcome }: Settled) -> Result<(), String> {
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
    /// [`BundleError::RequestDiffers`] with the first difference.
    pub fn find(&self, at: Place, key: &str, request: &WireRequest) -> Result<Option<&Outcome>, BundleError> {
        // A refused request may be mended by changing it.
        let is_other = |sent: &Sent| sent.intent.key != key && (sent.is_unknown() || sent.answer().is_some());
        if self.of(at).any(is_other) {
            return Err(BundleError::RequestDiffers {
                step: at.step,
                ordinal: at.ordinal,
                nearest: self.nearest(at, request).map(Box::new),
            });
        }
        Ok(self.of(at).find_map(Sent::answer))
    }

    /// The recorded request that is most like one that is not recorded; `None` when nothing is recorded.
    #[must_use]
    pub fn nearest(&self, at: Place, request: &WireRequest) -> Option<Nearest> {
        let body = String::from_utf8_lossy(request.body());
        Nearest::of(&self.sends, at, request.path(), &body)
    }

    /// Whether an answer of a request is recorded: its reply's SHA-256 is the one given.
    #[must_use]
    pub fn has_reply(&self, step: usize, ordinal: u32, reply: &str) -> bool {
        let place = |attempt| Place {
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
    pub fn has_attempt(&self, at: Place) -> bool {
        self.of(at).any(|sent| sent.answer().is_some())
    }

    /// How many attempts at the last request of a step are recorded with an outcome.
    #[must_use]
    pub fn last_attempts(&self, step: usize) -> u32 {
        let place = |ordinal| Place {
            step,
            ordinal,
            attempt: 0,
        };
        let end = Place {
            attempt: u32::MAX,
            ..place(u32::MAX)
        };
        let mut of_step = self.places.range(place(0)..=end).rev();
        let Some((last, _)) = of_step.next() else {
            return 0;
        };
        let attempts = (0..=last.attempt).filter(|attempt| {
            self.has_attempt(Place {
                attempt: *attempt,
                ..*last
            })
        });
        u32::try_from(attempts.count()).unwrap_or(u32::MAX)
    }

    /// Whether an attempt at a request was ever to be sent.
    #[must_use]
    pub fn has_send(&self, at: Place) -> bool {
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

    /// The bytes of a store that holds the answered sends before a step alone.
    ///
    /// # Errors
    /// [`std::io::Error`] when they cannot be packed.
    pub fn packed_before(&self, step: usize) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for sent in self.answered().filter(|sent| sent.intent.at.step < step) {
            let at = sent.intent.at;
            bytes.extend(Frame::Intent(sent.intent.clone()).to_bytes()?);
            if let Some(outcome) = sent.outcome.clone() {
                bytes.extend(Frame::Outcome(Settled { at, outcome }).to_bytes()?);
            }
        }
        Ok(bytes)
    }

    /// Bytes of complete frames; what follows them in the file is torn.
    pub(super) const fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// The sends of a place, in order.
    fn of(&self, at: Place) -> impl Iterator<Item = &Sent> {
        let sends = self.places.get(&at).into_iter().flatten();
        sends.filter_map(|place| self.sends.get(*place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(ordinal: u32) -> Place {
        Place {
            step: 1,
            ordinal,
            attempt: 0,
        }
    }

    fn intent(ordinal: u32) -> Frame {
        Frame::Intent(Intent {
            at: place(ordinal),
            key: format!("key of {ordinal}"),
            path: "/chat/completions".to_owned(),
            request: format!("{{\"n\":{ordinal}}}"),
        })
    }

    fn outcome(ordinal: u32, outcome: Outcome) -> Frame {
        let at = place(ordinal);
        Frame::Outcome(Settled { at, outcome })
    }

    fn reply() -> Outcome {
        Outcome::of(&Ok(ktd_agents::WireReply::new(200, b"{}".to_vec())))
    }

    const REFUSED: Outcome = Outcome::Refused { status: Some(401) };

    /// Writes frames, and cuts some bytes off their end.
    fn read(frames: &[Frame], cut: usize) -> Result<Cassette, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zst");
        let mut bytes: Vec<u8> = frames
            .iter()
            .flat_map(|frame| frame.to_bytes().unwrap())
            .collect();
        bytes.truncate(bytes.len() - cut);
        std::fs::write(&path, bytes).unwrap();
        Cassette::read(&path).map_err(|error| error.to_string())
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
        let copied = cassette.packed_before(2).unwrap();
        let expected = [intent(0), outcome(0, reply())].map(|frame| frame.to_bytes().unwrap());
        assert_eq!(copied, expected.concat());
        assert!(cassette.packed_before(1).unwrap().is_empty());
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
}
