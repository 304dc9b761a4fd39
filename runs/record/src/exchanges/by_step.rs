//! The exchanges of an episode step by step, without holding the whole store: a long episode repeats its conversation in
//! every request and is a hundred times its file when it is decompressed.

use super::line::Record;
use super::records::StoreLines;
use super::{ExchangeOutcome, Sent};
use crate::RecordError;
use ktd_io::frame::{FAST_LEVEL, pack};
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_file;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All exchanges of an episode, compressed step by step.
#[derive(Debug, Clone, Default)]
pub struct ExchangesByStep {
    path: PathBuf,
    sha256: Option<String>,
    /// Of each step, the frames of its records that follow each other in the store.
    steps: BTreeMap<usize, Vec<Vec<u8>>>,
}

impl ExchangesByStep {
    /// Reads a store once: the compressed part at `path`, and the open part beside it. What a kill tore off the end of either
    /// is left out; a missing file has no exchanges.
    ///
    /// # Errors
    /// [`RecordError::File`] for a part that cannot be read, is too large or holds too much, and for records out of order.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        Self::read_only(path, None)
    }

    /// Reads a store once, as [`Self::read`] does, and holds one step of it alone. To compress all steps takes several times
    /// as long as to read them.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_step(path: &Path, step: usize) -> Result<Self, RecordError> {
        Self::read_only(path, Some(step))
    }

    fn read_only(path: &Path, only: Option<usize>) -> Result<Self, RecordError> {
        let mut read = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        read.sha256 = path.exists().then(|| sha256_file(path)).transpose()?;
        let mut lines = StoreLines::open(path)?;
        let (mut open, mut records) = (0, Vec::new());
        while let Some(step) = lines.advance()? {
            if open != step {
                read.close(open, &mut records)?;
                open = step;
            }
            if only.is_none_or(|only| only == step) {
                records.extend_from_slice(lines.line());
                records.push(b'\n');
            }
        }
        read.close(open, &mut records)?;
        Ok(read)
    }

    /// SHA-256 of the compressed part; `None` where there is none.
    #[must_use]
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }

    /// The steps of which anything was sent.
    pub fn steps(&self) -> impl Iterator<Item = usize> {
        self.steps.keys().copied()
    }

    /// The sends of a step in the order they were made; none where nothing was sent.
    ///
    /// # Errors
    /// [`RecordError::File`] for a record that is none, or is not of the step.
    pub fn step(&self, step: usize) -> Result<Vec<Sent>, RecordError> {
        let damaged = |what: String| RecordError::damaged(&self.path, format!("step {step}: {what}"));
        let mut sends: Vec<Sent> = Vec::new();
        for frame in self.steps.get(&step).into_iter().flatten() {
            let mut lines = LineKind::Exchanges.lines(&self.path, frame)?;
            while let Some(line) = lines.next_line()? {
                let (_, record) = Record::parse(line).map_err(damaged)?;
                add(&mut sends, record).map_err(damaged)?;
            }
        }
        if sends.iter().any(|sent| sent.intent.at.step != step) {
            return Err(damaged(
                "a record of another step stands among its own".to_owned(),
            ));
        }
        Ok(sends)
    }

    /// Every recorded text of a step that came back, and every request's body: what a search looks through.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn texts(&self, step: usize) -> Result<Vec<String>, RecordError> {
        let sends = self.step(step)?;
        let mut texts = Vec::new();
        for sent in sends {
            texts.push(sent.intent.request);
            if let Some(ExchangeOutcome::Reply { body: Some(body), .. }) = sent.outcome {
                texts.push(body);
            }
        }
        Ok(texts)
    }

    /// Packs the records of a step that were read one after the other.
    fn close(&mut self, step: usize, records: &mut Vec<u8>) -> Result<(), RecordError> {
        if !records.is_empty() {
            let frame = pack(records, FAST_LEVEL).map_err(RecordError::io("compress", &self.path))?;
            self.steps.entry(step).or_default().push(frame);
            records.clear();
        }
        Ok(())
    }
}

/// Adds a record to the sends of its step.
fn add(sends: &mut Vec<Sent>, record: Record) -> Result<(), String> {
    let (at, outcome) = match record {
        Record::Intent(intent) => {
            let outcome = None;
            sends.push(Sent { intent, outcome });
            return Ok(());
        }
        Record::Outcome { at, outcome } => (at, outcome),
    };
    let mut waiting = sends.iter_mut().rev();
    let sent = waiting.find(|sent| sent.intent.at == at && sent.is_unknown());
    let sent = sent.ok_or_else(|| format!("no request waits for an outcome of {at}"))?;
    sent.outcome = Some(outcome);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchanges::line::{place, quick_place};
    use crate::exchanges::records::open_part;
    use crate::exchanges::{Cassette, ExchangeStore, Intent, RequestPlace, read_sends};

    fn record(store: &ExchangeStore, step: usize, ordinal: u32) {
        let at = RequestPlace {
            step,
            ordinal,
            attempt: 0,
        };
        let request = format!("{{\"n\":{step}{ordinal},\"股\":\"{}\"}}", "x".repeat(200));
        let intent = Intent {
            at,
            key: "k".to_owned(),
            path: "/p".to_owned(),
            request,
        };
        store.intend(intent).unwrap();
        let outcome = ExchangeOutcome::Failed {
            code: "c".to_owned(),
            retryable: false,
            detail: String::new(),
        };
        store.settle(at, outcome).unwrap();
    }

    fn store(path: &Path) -> ExchangeStore {
        let store = ExchangeStore::continue_after(path, &Cassette::default()).unwrap();
        for (step, ordinal) in [(1, 0), (1, 1), (2, 0), (3, 0)] {
            record(&store, step, ordinal);
        }
        store
    }

    #[test]
    fn a_step_is_what_the_whole_store_holds_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exchanges.jsonl.zst");
        let open = store(&path);
        let while_it_runs = ExchangesByStep::read(&path).unwrap();
        open.finish().unwrap();
        let sends = read_sends(&path).unwrap();
        for read in [while_it_runs, ExchangesByStep::read(&path).unwrap()] {
            assert_eq!(read.steps().collect::<Vec<_>>(), [1, 2, 3]);
            for step in 1..=4 {
                let expected = sends.iter().filter(|sent| sent.intent.at.step == step);
                assert_eq!(
                    read.step(step).unwrap(),
                    expected.cloned().collect::<Vec<_>>(),
                    "{step}"
                );
            }
        }
    }

    #[test]
    fn a_step_that_is_read_alone_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exchanges.jsonl.zst");
        let open = store(&path);
        // Records of a step need not stand together.
        record(&open, 2, 1);
        open.finish().unwrap();
        let whole = ExchangesByStep::read(&path).unwrap();
        assert_eq!(whole.step(2).unwrap().len(), 2);
        for step in 1..=4 {
            let alone = ExchangesByStep::read_step(&path, step).unwrap();
            assert_eq!(alone.step(step).unwrap(), whole.step(step).unwrap(), "{step}");
            assert_eq!(alone.sha256(), whole.sha256());
            assert!(alone.steps().all(|held| held == step), "{step}");
        }
        // What is damaged in another step is damage.
        let frame = std::fs::read(&path).unwrap();
        std::fs::write(&path, &frame[..frame.len() - 2]).unwrap();
        let error = ExchangesByStep::read_step(&path, 1).unwrap_err().to_string();
        assert!(error.contains("no whole frame"), "{error}");
    }

    #[test]
    fn a_torn_frame_is_damage_unless_its_records_stand_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exchanges.jsonl.zst");
        let open = store(&path);
        let lines = std::fs::read(open_part(&path)).unwrap();
        open.finish().unwrap();
        let frame = std::fs::read(&path).unwrap();
        // Two bytes are of the checksum alone, after every record.
        for missing in [7, 2] {
            std::fs::remove_file(open_part(&path)).ok();
            std::fs::write(&path, &frame[..frame.len() - missing]).unwrap();
            let error = ExchangesByStep::read(&path).unwrap_err().to_string();
            assert!(error.contains("no whole frame"), "{error}");
            std::fs::write(open_part(&path), &lines).unwrap();
            assert_eq!(ExchangesByStep::read(&path).unwrap().steps().count(), 3);
        }
    }

    #[test]
    fn a_record_of_another_number_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exchanges.jsonl.zst");
        std::fs::write(
            open_part(&path),
            "{\"seq\":3,\"intent\":{\"at\":{\"step\":1,\"ordinal\":0}}}\n",
        )
        .unwrap();
        let error = ExchangesByStep::read(&path).unwrap_err().to_string();
        assert!(error.contains("the next record is number 3"), "{error}");
    }

    #[test]
    fn places_are_read_in_any_spelling() {
        let quick = br#"{"seq":7,"outcome":{"at":{"step":12,"ordinal":0,"attempt":0},"refused":{}}}"#;
        assert_eq!(quick_place(quick), Some((7, 12)));
        let other = br#"{ "seq":7,"outcome":{"at":{"step":12,"ordinal":0,"attempt":0},"refused":{}}}"#;
        assert_eq!(quick_place(other), None);
        assert_eq!(place(other), Ok((7, 12)));
    }
}
