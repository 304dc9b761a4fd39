//! The records of units that are a line each: `units.jsonl`.

use crate::kind::Planned;
use crate::worker_journals::WorkerJournal;
use crate::{StudyError, UnitId};
use ktd_asking::LineJournal;
use ktd_io::line_file::LineKind;
use ktd_io::whole_file::{read_if_exists, remove_if_exists, write_whole};
use ktd_record::chain::{Log, LogReader, NO_GENESIS};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const CLOSED: &str = "units.jsonl";
const OPEN: &str = "units.open.jsonl";

/// The record of a unit: its name, the hash of what decides it, and what it came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitLine {
    pub(crate) id: UnitId,
    pub(crate) sha256: String,
    pub(crate) found: Box<RawValue>,
    /// SHA-256 of every file that it made in the folder of the study, by its place there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) files: BTreeMap<String, String>,
}

/// The lines of a study, those of an earlier run among them.
pub(crate) struct UnitLines {
    folder: PathBuf,
    known: BTreeMap<UnitId, UnitLine>,
    journal: Option<Mutex<LineJournal>>,
}

impl UnitLines {
    /// The lines of a folder that this process holds, to go on with.
    pub(crate) fn open(folder: &Path) -> Result<Self, StudyError> {
        let mut lines = Self::read(folder)?;
        let (journal, open) = LineJournal::open::<UnitLine>(&folder.join(OPEN))?;
        lines.journal = Some(Mutex::new(journal));
        // A line of the open file is the newer one.
        lines.extend(open);
        lines.extend(WorkerJournal::Units.lines(folder)?);
        Ok(lines)
    }

    /// The lines of a folder that many write, with a journal of one's own.
    pub(crate) fn of_worker(folder: &Path, worker: &str) -> Result<Self, StudyError> {
        let mut lines = Self::look(folder)?;
        let path = WorkerJournal::Units.path(folder, worker);
        lines.journal = Some(Mutex::new(LineJournal::open::<UnitLine>(&path)?.0));
        Ok(lines)
    }

    /// No lines, of units whose records are folders.
    pub(crate) fn none(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            known: BTreeMap::new(),
            journal: None,
        }
    }

    /// The closed lines of a folder, chain checked.
    pub(crate) fn read(folder: &Path) -> Result<Self, StudyError> {
        let path = folder.join(CLOSED);
        let mut known = BTreeMap::new();
        LogReader::open(&path)?.from(NO_GENESIS).each(|line: UnitLine| {
            known.insert(line.id.clone(), line);
            Ok(())
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            known,
            journal: None,
        })
    }

    /// The lines of a folder that another process may hold: those of its journal that are whole, and the closed ones.
    pub(crate) fn look(folder: &Path) -> Result<Self, StudyError> {
        // The journal first: it goes when the closed file has all of its lines.
        let path = folder.join(OPEN);
        let bytes = LineKind::Log.bytes_if_exists(&path)?.unwrap_or_default();
        let mut open: Vec<UnitLine> = LineKind::Log.lines(&path, &bytes)?.whole_values()?;
        open.extend(WorkerJournal::Units.lines(folder)?);
        let mut lines = Self::read(folder)?;
        lines.extend(open);
        Ok(lines)
    }

    fn extend(&mut self, lines: Vec<UnitLine>) {
        self.known
            .extend(lines.into_iter().map(|line| (line.id.clone(), line)));
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &UnitLine> {
        self.known.values()
    }

    /// The record of a unit that is decided by the same; none where it has none.
    pub(crate) fn known(&self, id: &UnitId, sha256: &str) -> Option<&UnitLine> {
        self.known.get(id).filter(|line| line.sha256 == sha256)
    }

    /// Keeps the record of a unit that has just run.
    pub(crate) fn keep(&self, line: &UnitLine) -> Result<(), StudyError> {
        if let Some(journal) = &self.journal {
            journal.lock().unwrap_or_else(PoisonError::into_inner).add(line)?;
        }
        Ok(())
    }

    /// Writes all lines in the order of the plan, whichever thread was first. Records that the file
    /// does not ask for stay behind them: they may have taken hours.
    pub(crate) fn close<U>(&mut self, plan: &[Planned<U>], ran: Vec<UnitLine>) -> Result<(), StudyError> {
        self.extend(ran);
        let asked: Vec<UnitLine> = plan
            .iter()
            .filter_map(|unit| self.known.remove(&unit.id))
            .collect();
        let path = self.folder.join(CLOSED);
        let bytes = chained(&path, asked.iter().chain(self.known.values()))?;
        if read_if_exists(&path)?.as_deref() != Some(&bytes) && !bytes.is_empty() {
            write_whole(&path, &bytes)?;
        }
        drop(self.journal.take());
        WorkerJournal::Units.remove(&self.folder)?;
        Ok(remove_if_exists(&self.folder.join(OPEN))?)
    }
}

/// Lines as a chain. What decides a line is in it, so that the chain starts from nothing.
fn chained<'l>(path: &Path, lines: impl Iterator<Item = &'l UnitLine>) -> Result<Vec<u8>, StudyError> {
    let mut log = Log::kept_by_caller(path, NO_GENESIS);
    let mut bytes = Vec::new();
    for line in lines {
        bytes.extend(log.append(line)?.into_bytes());
        bytes.push(b'\n');
    }
    Ok(bytes)
}
