//! The index of finished units: how the record of each looked when it was compared with its files. What a unit came to is read from
//! its own record alone, so that the index may be deleted at any time, and a changed one changes no figure.

use crate::json_file::read_as;
use crate::kind::Planned;
use crate::own_format::RecordedUnit;
use crate::plan_lines::PlanLine;
use crate::unit_folder::{RESULT, SPENDING, UnitFolder, UnitResult};
use crate::worker_journals::WorkerJournal;
use crate::{StudyError, UnitId};
use ktd_asking::LineJournal;
use ktd_io::line_file::{LineKind, line_bytes};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{remove_if_exists, write_whole};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

pub(crate) const INDEX: &str = "index.jsonl";

/// A line of the index.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexLine {
    id: UnitId,
    /// Of all that decides the unit.
    sha256: String,
    bytes: u64,
    modified_ns: u64,
    /// Of what it came to.
    found_sha256: String,
}

impl IndexLine {
    fn new((id, sha256): (&UnitId, &str), (bytes, modified_ns): (u64, u64), found: &RawValue) -> Self {
        Self {
            id: id.clone(),
            sha256: sha256.to_owned(),
            bytes,
            modified_ns,
            found_sha256: hash_of(found),
        }
    }
}

/// The index of a study's folder.
pub(crate) struct UnitIndex {
    path: PathBuf,
    known: BTreeMap<UnitId, IndexLine>,
    is_changed: bool,
    journal: Option<Mutex<LineJournal>>,
}

impl UnitIndex {
    /// The index of a folder that another process may hold. One that cannot be read is none.
    pub(crate) fn read(folder: &Path) -> Self {
        let path = folder.join(INDEX);
        let whole = || {
            let bytes = LineKind::Log.bytes_if_exists(&path)?.unwrap_or_default();
            LineKind::Log.lines(&path, &bytes)?.whole_values::<IndexLine>()
        };
        // The journals first: they go when the index has all of their lines.
        let of_workers = WorkerJournal::Index.lines(folder).unwrap_or_default();
        let lines = whole().unwrap_or_default();
        Self::of(path, lines.into_iter().chain(of_workers))
    }

    /// The index of a folder that many write, with a journal of one's own.
    pub(crate) fn of_worker(folder: &Path, worker: &str) -> Result<Self, StudyError> {
        let (journal, _) = opened(&WorkerJournal::Index.path(folder, worker))?;
        Ok(Self {
            journal: Some(Mutex::new(journal)),
            ..Self::read(folder)
        })
    }

    /// The index of a folder that this process holds, to add to.
    pub(crate) fn open(folder: &Path) -> Result<Self, StudyError> {
        let path = folder.join(INDEX);
        let (journal, lines) = opened(&path)?;
        let of_workers: Vec<IndexLine> = WorkerJournal::Index.lines(folder).unwrap_or_default();
        Ok(Self {
            journal: Some(Mutex::new(journal)),
            is_changed: !of_workers.is_empty(),
            ..Self::of(path, lines.into_iter().chain(of_workers))
        })
    }

    /// An index that knows of nothing.
    pub(crate) fn none() -> Self {
        Self::of(PathBuf::new(), Vec::new())
    }

    fn of(path: PathBuf, lines: impl IntoIterator<Item = IndexLine>) -> Self {
        Self {
            path,
            known: lines.into_iter().map(|line| (line.id.clone(), line)).collect(),
            is_changed: false,
            journal: None,
        }
    }

    /// Adds a unit that has just ended, for those who look on while others run.
    pub(crate) fn keep(
        &self,
        id: &UnitId,
        (path, sha256): (&Path, &str),
        found: &RawValue,
    ) -> Result<(), StudyError> {
        let (Some(journal), Some(state)) = (&self.journal, state(path)) else {
            return Ok(());
        };
        let line = IndexLine::new((id, sha256), state, found);
        Ok(journal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&line)?)
    }

    /// What a unit came to, where it is finished and decided by the same: its header is compared only when its result changed.
    pub(crate) fn found<U>(
        &mut self,
        planned: &Planned<U>,
        (folder, is_asked): (&UnitFolder, bool),
    ) -> Result<Option<Box<RawValue>>, StudyError> {
        let path = folder.result_path();
        let look = || Ok(read_result(&path)?.map(|(_, unit)| unit.found));
        self.known_or(&planned.id, (&path, folder.sha256()), look, || {
            // The header says by name what is another, and is compared before anything is trusted.
            match folder.check_header() {
                Err(_) if !is_asked => return Ok(None),
                checked => checked?,
            };
            let Some((sha256, unit)) = read_result(&path)? else {
                return Ok(None);
            };
            if sha256 != folder.sha256() {
                return Err(StudyError::difference(
                    format_args!("{}: it is the result of another unit", path.display()),
                    format_args!("remove {RESULT}: the unit is made again from its record"),
                ));
            }
            remove_if_exists(&folder.open_works())?;
            Ok(Some(unit.found))
        })
    }

    /// What a unit came to that is decided by what `sha256` is the hash of, and closed by the file at `path`: `look` reads it from
    /// the record, and `read` is asked, who compares all of it, where that file is not as it was or says something else.
    pub(crate) fn known_or(
        &mut self,
        id: &UnitId,
        (path, sha256): (&Path, &str),
        look: impl FnOnce() -> Result<Option<Box<RawValue>>, StudyError>,
        read: impl FnOnce() -> Result<Option<Box<RawValue>>, StudyError>,
    ) -> Result<Option<Box<RawValue>>, StudyError> {
        let Some(state) = state(path) else {
            return Ok(None);
        };
        let known = self
            .known
            .get(id)
            .filter(|line| line.sha256 == sha256 && (line.bytes, line.modified_ns) == state);
        if let Some(line) = known
            && let Ok(Some(found)) = look()
            && line.found_sha256 == hash_of(&found)
        {
            return Ok(Some(found));
        }
        let Some(found) = read()? else {
            return Ok(None);
        };
        let line = IndexLine::new((id, sha256), state, &found);
        self.known.insert(id.clone(), line);
        self.is_changed = true;
        Ok(Some(found))
    }

    /// Whether a unit that is decided as its plan says was finished when it was last looked at.
    pub(crate) fn knows(&self, unit: &PlanLine) -> bool {
        let known = self.known.get(&unit.id);
        known.is_some_and(|line| line.sha256 == unit.sha256)
    }

    /// Whether a unit came to something else when it ended, as far as it is known.
    pub(crate) fn denies(&self, unit: &PlanLine, found: &RawValue) -> bool {
        let known = self.known.get(&unit.id);
        known.is_some_and(|line| line.sha256 == unit.sha256 && line.found_sha256 != hash_of(found))
    }

    /// Writes the index, where it changed.
    pub(crate) fn write(&self) -> Result<(), StudyError> {
        if self.is_changed {
            write_whole(&self.path, &line_bytes(&self.path, self.known.values())?)?;
        }
        let folder = self.path.parent().unwrap_or_else(|| Path::new(""));
        WorkerJournal::Index.remove(folder)
    }
}

/// The lines of a file of an index, to add to: one that cannot be read is begun anew.
fn opened(path: &Path) -> Result<(LineJournal, Vec<IndexLine>), StudyError> {
    LineJournal::open(path).or_else(|_| {
        remove_if_exists(path)?;
        Ok(LineJournal::open(path)?)
    })
}

/// What the unit of a folder came to, by its result and by what it says that it cost, with the hash of what decides it; none where it
/// has no result.
pub(crate) fn read_result(path: &Path) -> Result<Option<(String, RecordedUnit)>, StudyError> {
    let Some(result) = read_as::<UnitResult<Box<RawValue>>>(path)? else {
        return Ok(None);
    };
    let unit = RecordedUnit {
        found: on_one_line(result.found),
        spent: read_as(&path.with_file_name(SPENDING))?,
    };
    Ok(Some((result.sha256, unit)))
}

fn hash_of(found: &RawValue) -> String {
    sha256_hex(found.get().as_bytes())
}

/// A value without the blanks between its parts, as it was before its result was written for people to read.
fn on_one_line(value: Box<RawValue>) -> Box<RawValue> {
    let (mut line, mut is_text, mut is_escaped) = (String::with_capacity(value.get().len()), false, false);
    for letter in value.get().chars() {
        if is_text || !letter.is_ascii_whitespace() {
            line.push(letter);
        }
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_text,
            '"' => is_text = !is_text,
            _ => {}
        }
    }
    RawValue::from_string(line).unwrap_or(value)
}

/// How a file looks; none where it is not there.
pub(crate) fn state(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((
        metadata.len(),
        u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX),
    ))
}
