//! The index of finished units: what each came to, and how its result looked when it was read. It may be deleted at any time.

use crate::json_file::read_as;
use crate::kind::Planned;
use crate::plan_lines::PlanLine;
use crate::unit_folder::{RESULT, SPENDING, UnitFolder, UnitResult};
use crate::{StudyError, UnitId};
use ktd_asking::LineJournal;
use ktd_io::line_file::{LineKind, line_bytes};
use ktd_io::whole_file::{parse_json, read_if_exists, remove_if_exists, write_whole};
use ktd_record::spending::Spending;
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
    sha256: String,
    bytes: u64,
    modified_ns: u64,
    found: Box<RawValue>,
    /// What it cost; none where it asked nobody.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    spent: Option<Spending>,
}

impl IndexLine {
    fn new(
        (id, sha256): (&UnitId, &str),
        (bytes, modified_ns): (u64, u64),
        RecordedUnit { found, spent }: RecordedUnit,
    ) -> Self {
        Self {
            id: id.clone(),
            sha256: sha256.to_owned(),
            bytes,
            modified_ns,
            found,
            spent,
        }
    }
}

/// A finished unit.
pub(crate) struct RecordedUnit {
    pub(crate) found: Box<RawValue>,
    /// What it cost; none where it asked nobody.
    pub(crate) spent: Option<Spending>,
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
        let lines = whole().unwrap_or_default();
        Self::of(path, lines)
    }

    /// The index of a folder that this process holds, to add to.
    pub(crate) fn open(folder: &Path) -> Result<Self, StudyError> {
        let path = folder.join(INDEX);
        let (journal, lines) = LineJournal::open::<IndexLine>(&path).or_else(|_| {
            remove_if_exists(&path)?;
            Ok::<_, StudyError>(LineJournal::open::<IndexLine>(&path)?)
        })?;
        let journal = Some(Mutex::new(journal));
        Ok(Self {
            journal,
            ..Self::of(path, lines)
        })
    }

    /// An index that knows of nothing.
    pub(crate) fn none() -> Self {
        Self::of(PathBuf::new(), Vec::new())
    }

    fn of(path: PathBuf, lines: Vec<IndexLine>) -> Self {
        Self {
            path,
            known: lines.into_iter().map(|line| (line.id.clone(), line)).collect(),
            is_changed: false,
            journal: None,
        }
    }

    /// Adds what a unit has just come to, for those who look on while others run.
    pub(crate) fn keep(
        &self,
        id: &UnitId,
        (path, sha256): (&Path, &str),
        unit: RecordedUnit,
    ) -> Result<(), StudyError> {
        let (Some(journal), Some(state)) = (&self.journal, state(path)) else {
            return Ok(());
        };
        let line = IndexLine::new((id, sha256), state, unit);
        Ok(journal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&line)?)
    }

    /// What a unit came to, where it is finished and decided by the same: its result is read only when it changed.
    pub(crate) fn found<U>(
        &mut self,
        planned: &Planned<U>,
        (folder, is_asked): (&UnitFolder, bool),
    ) -> Result<Option<Box<RawValue>>, StudyError> {
        let path = folder.result_path();
        self.known_or(&planned.id, (&path, folder.sha256()), || {
            // The header says by name what is another, and is compared before anything is trusted.
            match folder.check_header() {
                Err(_) if !is_asked => return Ok(None),
                checked => checked?,
            };
            let line = read_line(&planned.id, &path, (0, 0))?;
            if line.sha256 != folder.sha256() {
                return Err(StudyError::difference(
                    format_args!("{}: it is the result of another unit", path.display()),
                    format_args!("remove {RESULT}: the unit is made again from its record"),
                ));
            }
            remove_if_exists(&folder.open_works())?;
            Ok(Some(RecordedUnit {
                found: line.found,
                spent: line.spent,
            }))
        })
    }

    /// What a unit came to that is decided by what `sha256` is the hash of, and closed by the file at `path`: `read` is asked
    /// only where that file is not as it was.
    pub(crate) fn known_or(
        &mut self,
        id: &UnitId,
        (path, sha256): (&Path, &str),
        read: impl FnOnce() -> Result<Option<RecordedUnit>, StudyError>,
    ) -> Result<Option<Box<RawValue>>, StudyError> {
        let Some(state) = state(path) else {
            return Ok(None);
        };
        if let Some(line) = self.unchanged(id, state)
            && line.sha256 == sha256
        {
            return Ok(Some(line.found.clone()));
        }
        let Some(unit) = read()? else {
            return Ok(None);
        };
        let found = unit.found.clone();
        let line = IndexLine::new((id, sha256), state, unit);
        self.known.insert(id.clone(), line);
        self.is_changed = true;
        Ok(Some(found))
    }

    /// What the unit of a folder came to, where it is finished and decided as its plan says. Nothing is written.
    pub(crate) fn recorded(&self, root: &Path, unit: &PlanLine) -> Result<Option<RecordedUnit>, StudyError> {
        let path = root.join(RESULT);
        let Some(state) = state(&path) else {
            return Ok(None);
        };
        let line = match self.unchanged(&unit.id, state) {
            Some(line) => line.clone(),
            None => read_line(&unit.id, &path, state)?,
        };
        let is_same = line.sha256 == unit.sha256;
        Ok(is_same.then_some(RecordedUnit {
            found: line.found,
            spent: line.spent,
        }))
    }

    /// What a unit of a format of the kind's own came to, where the plan's is the one that is known of it.
    pub(crate) fn own(&self, unit: &PlanLine) -> Option<RecordedUnit> {
        let line = self
            .known
            .get(&unit.id)
            .filter(|line| line.sha256 == unit.sha256)?;
        Some(RecordedUnit {
            found: line.found.clone(),
            spent: line.spent.clone(),
        })
    }

    /// The line of a unit whose result looks as it did when it was read.
    fn unchanged(&self, id: &UnitId, state: (u64, u64)) -> Option<&IndexLine> {
        let known = self.known.get(id);
        known.filter(|line| (line.bytes, line.modified_ns) == state)
    }

    /// Writes the index, where it changed.
    pub(crate) fn write(&self) -> Result<(), StudyError> {
        if self.is_changed {
            write_whole(&self.path, &line_bytes(&self.path, self.known.values())?)?;
        }
        Ok(())
    }
}

/// The line of a finished unit, read from its result and from what it says that it cost.
fn read_line(id: &UnitId, path: &Path, state: (u64, u64)) -> Result<IndexLine, StudyError> {
    let read = read_if_exists(path)?.unwrap_or_default();
    let result: UnitResult<Box<RawValue>> = parse_json(path, &read)?;
    let unit = RecordedUnit {
        found: on_one_line(result.found),
        spent: read_as(&path.with_file_name(SPENDING))?,
    };
    Ok(IndexLine::new((id, &result.sha256), state, unit))
}

/// A value without the blanks between its parts, which an index of lines cannot hold.
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
fn state(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((
        metadata.len(),
        u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX),
    ))
}
