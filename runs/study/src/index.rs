//! The index of finished units: what each came to, and how its result looked when it was read. It may be deleted at any time.

use crate::kind::Planned;
use crate::unit_folder::{RESULT, UnitFolder, UnitResult};
use crate::{StudyError, UnitId};
use ktd_io::line_file::{LineKind, LineReader, line_bytes};
use ktd_io::whole_file::{parse_json, read_if_exists, remove_if_exists, write_whole};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const INDEX: &str = "index.jsonl";

/// A line of the index.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexLine {
    id: UnitId,
    sha256: String,
    bytes: u64,
    modified_ns: u64,
    found: Box<RawValue>,
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
        let known = self.known.get(&planned.id);
        if let Some(line) = known
            && (line.bytes, line.modified_ns) == (bytes, modified_ns)
            && line.sha256 == folder.sha256()
        {
            return Ok(Some(line.found.clone()));
        }
        // The header says by name what is another, and is compared before anything is trusted.
        match folder.check_header() {
            Err(_) if !is_asked => return Ok(None),
            checked => checked?,
        };
        let read = read_if_exists(&path)?.unwrap_or_default();
        let result: UnitResult<Box<RawValue>> = parse_json(&path, &read)?;
        if result.sha256 != folder.sha256() {
            return Err(StudyError::difference(
                format_args!("{}: it is the result of another unit", path.display()),
                format_args!("remove {RESULT}: the unit is made again from its record"),
            ));
        }
        remove_if_exists(&folder.open_works())?;
        let line = IndexLine {
            id: planned.id.clone(),
            sha256: result.sha256,
            bytes,
            modified_ns,
            found: result.found,
        };
        let found = line.found.clone();
        self.known.insert(planned.id.clone(), line);
        self.is_changed = true;
        Ok(Some(found))
    }

    /// Writes the index, where it changed.
    pub(crate) fn write(&self) -> Result<(), StudyError> {
        if self.is_changed {
            write_whole(&self.path, &line_bytes(&self.path, self.known.values())?)?;
        }
        Ok(())
    }
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
