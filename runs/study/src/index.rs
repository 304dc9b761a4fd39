//! The index of finished units: what each came to, and how its result looked when it was read. It may be deleted at any time.

use crate::identity::read_as;
use crate::kind::Planned;
use crate::plan_lines::PlanLine;
use crate::unit_folder::{RESULT, SPENDING, UnitFolder, UnitResult};
use crate::{StudyError, UnitId};
use ktd_io::line_file::{LineKind, LineReader, line_bytes};
use ktd_io::whole_file::{parse_json, read_if_exists, remove_if_exists, write_whole};
use ktd_record::spending::Spending;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
}

impl UnitIndex {
    /// The index of a folder. One that cannot be read is none.
    pub(crate) fn read(folder: &Path) -> Self {
        let path = folder.join(INDEX);
        let lines = LineKind::Log
            .open(&path)
            .and_then(LineReader::values::<IndexLine>);
        let lines = lines.unwrap_or_default().into_iter();
        Self {
            path,
            known: lines.map(|line| (line.id.clone(), line)).collect(),
            is_changed: false,
        }
    }

    /// What a unit came to, where it is finished and decided by the same: its result is read only when it changed.
    pub(crate) fn found<U>(
        &mut self,
        planned: &Planned<U>,
        (folder, is_asked): (&UnitFolder, bool),
    ) -> Result<Option<Box<RawValue>>, StudyError> {
        let path = folder.result_path();
        let Some((bytes, modified_ns)) = state(&path) else {
            return Ok(None);
        };
        if let Some(line) = self.unchanged(&planned.id, (bytes, modified_ns))
            && line.sha256 == folder.sha256()
        {
            return Ok(Some(line.found.clone()));
        }
        // The header says by name what is another, and is compared before anything is trusted.
        match folder.check_header() {
            Err(_) if !is_asked => return Ok(None),
            checked => checked?,
        };
        let line = read_line(&planned.id, &path, (bytes, modified_ns))?;
        if line.sha256 != folder.sha256() {
            return Err(StudyError::difference(
                format_args!("{}: it is the result of another unit", path.display()),
                format_args!("remove {RESULT}: the unit is made again from its record"),
            ));
        }
        remove_if_exists(&folder.open_works())?;
        let found = line.found.clone();
        self.known.insert(planned.id.clone(), line);
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
fn read_line(id: &UnitId, path: &Path, (bytes, modified_ns): (u64, u64)) -> Result<IndexLine, StudyError> {
    let read = read_if_exists(path)?.unwrap_or_default();
    let result: UnitResult<Box<RawValue>> = parse_json(path, &read)?;
    Ok(IndexLine {
        id: id.clone(),
        sha256: result.sha256,
        bytes,
        modified_ns,
        found: result.found,
        spent: read_as(&path.with_file_name(SPENDING))?,
    })
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
