//! The private logs of sends of a folder, read on as they grow.

use crate::StudyError;
use crate::recent_sends::{Sends, Steps, milliseconds};
use crate::send_logs::records;
use ktd_client::money::KeyName;
use ktd_io::FileError;
use ktd_io::whole_file::open_regular;
use ktd_record::send_log::{OpenSends, SendLine, SendLog};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// So many looks lie between two at which records are searched for that no unit has, such as canaries.
const LOOKS: u32 = 16;
/// The longest line that is read, bytes: what is longer was not written by this program.
const LINE_BYTES: u64 = 1 << 16;

/// The sends of all records of a folder. Of each log only what is new is read.
#[derive(Debug)]
pub(crate) struct FollowedSends {
    folder: PathBuf,
    logs: BTreeMap<PathBuf, FollowedLog>,
    looks: u32,
}

#[derive(Debug, Default)]
struct FollowedLog {
    read_bytes: u64,
    sends: RecordSends,
}

/// What was sent of a record.
#[derive(Debug, Default)]
pub(crate) struct RecordSends {
    pub(crate) by_key: BTreeMap<KeyName, Sends>,
    pub(crate) steps: Steps,
    open: OpenSends,
}

impl FollowedSends {
    pub(crate) fn of(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            logs: BTreeMap::new(),
            looks: 0,
        }
    }

    /// Reads what is new of the records in these folders, and now and then of all others. A line that a kill or a full disk
    /// tore is left out. Where nobody runs the study any more, what is under way is lost.
    ///
    /// # Errors
    /// [`StudyError`] for a folder or a log that cannot be read.
    pub(crate) fn read_on<'p>(
        &mut self,
        open: impl Iterator<Item = &'p Path>,
        (now_ms, is_running): (i64, bool),
    ) -> Result<(), StudyError> {
        if self.looks.is_multiple_of(LOOKS) {
            for record in records(&self.folder)? {
                self.logs.entry(record).or_default();
            }
            for (record, log) in &mut self.logs {
                log.read_on(SendLog::of_record(record).path(), now_ms)?;
            }
        } else {
            for record in open {
                let path = SendLog::of_record(record);
                if path.path().exists() {
                    let log = self.logs.entry(record.to_owned()).or_default();
                    log.read_on(path.path(), now_ms)?;
                }
            }
        }
        for log in self.logs.values_mut() {
            log.sends.forget(now_ms);
            log.sends.hold(is_running);
        }
        self.looks = self.looks.wrapping_add(1);
        Ok(())
    }

    /// The sends of a record, where one was logged.
    pub(crate) fn of_record(&self, record: &Path) -> Option<&RecordSends> {
        self.logs.get(record).map(|log| &log.sends)
    }

    /// All records with their sends.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Path, &RecordSends)> {
        self.logs
            .iter()
            .map(|(record, log)| (record.as_path(), &log.sends))
    }
}

impl FollowedLog {
    fn read_on(&mut self, path: &Path, now_ms: i64) -> Result<(), StudyError> {
        let Ok(metadata) = path.symlink_metadata() else {
            return Ok(());
        };
        if metadata.len() == self.read_bytes {
            return Ok(());
        }
        if metadata.len() < self.read_bytes {
            *self = Self::default();
        }
        let mut file = open_regular(path)?;
        file.seek(SeekFrom::Start(self.read_bytes))
            .map_err(FileError::io("read", path))?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line);
            let read = read.map_err(FileError::io("read", path))?;
            // What does not end yet is being written.
            if line.last() != Some(&b'\n') {
                return Ok(());
            }
            self.read_bytes = self
                .read_bytes
                .saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            if let Ok(send) = serde_json::from_slice::<SendLine>(&line) {
                self.sends.add(send, now_ms);
            }
        }
    }
}

impl RecordSends {
    fn add(&mut self, send: SendLine, now_ms: i64) {
        let Some(at_ms) = milliseconds(&send.at) else {
            return;
        };
        if let Some(send) = self.open.take(send) {
            let own = self.by_key.entry(key_of(&send)).or_default();
            own.add(&send, (at_ms, now_ms));
            self.steps.add(&send, (at_ms, now_ms));
        }
    }

    /// Counts what left and has not come to an end at its most.
    fn hold(&mut self, is_running: bool) {
        self.by_key.values_mut().for_each(Sends::drop_held);
        for send in self.open.all() {
            let own = self.by_key.entry(key_of(send)).or_default();
            own.hold(send, is_running);
        }
    }

    fn forget(&mut self, now_ms: i64) {
        self.by_key.values_mut().for_each(|sends| sends.forget(now_ms));
        self.steps.forget(now_ms);
    }
}

fn key_of(send: &SendLine) -> KeyName {
    KeyName {
        key: send.key.clone(),
        base_url: send.base_url.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_log_is_read_on_and_a_torn_line_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("cells").join("a");
        let path = SendLog::of_record(&record).path().to_owned();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let line = |attempt: u32, outcome: &str| {
            format!(
                "{{\"at\":\"2026-11-02T07:28:00.125Z\",\"vendor\":\"v\",\"model\":\"m\",\"step\":2,\"ordinal\":0,\
                 \"attempt\":{attempt},\"latency_ms\":5,\"outcome\":\"{outcome}\",\"cost_picodollars\":7,\"is_most\":false}}\n"
            )
        };
        let mut file = std::fs::File::create(&path).unwrap();
        let second = line(1, "200");
        let (torn, rest) = second.split_at(40);
        file.write_all([&line(0, "503"), torn].concat().as_bytes())
            .unwrap();
        let mut sends = FollowedSends::of(folder.path());
        let counts = |sends: &mut FollowedSends| {
            let open = std::iter::once(record.as_path());
            sends.read_on(open, (0, true)).unwrap();
            let of = &sends.of_record(&record).unwrap().by_key;
            let sum = of.values().next().unwrap();
            [
                sum.asked,
                sum.answered,
                sum.retries,
                sum.spent().at_most_picodollars,
            ]
        };
        assert_eq!(counts(&mut sends), [1, 0, 0, 7]);
        file.write_all(rest.as_bytes()).unwrap();
        assert_eq!(counts(&mut sends), [2, 1, 1, 14]);
        assert_eq!(counts(&mut sends), [2, 1, 1, 14], "nothing is read twice");
        // What leaves counts at its most until its end is known.
        file.write_all(line(2, "under_way").as_bytes()).unwrap();
        assert_eq!(counts(&mut sends), [2, 1, 1, 21]);
        file.write_all(line(2, "200").as_bytes()).unwrap();
        assert_eq!(counts(&mut sends), [3, 2, 2, 21]);
    }
}
