//! Why units of the last run ended without a result: the owner's business, no part of a record.

use crate::{StudyError, UnitId};
use ktd_asking::LineJournal;
use ktd_io::line_file::LineKind;
use ktd_io::whole_file::remove_if_exists;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Unit that ended without a result in the last run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailedUnit {
    /// The unit.
    pub unit: UnitId,
    /// What ended it.
    pub error: String,
    /// How to fix it; empty where the error says enough.
    pub hint: String,
}

/// The failures of a run, each written when it happens.
pub(crate) struct Failures {
    path: PathBuf,
    journal: Mutex<Option<LineJournal>>,
}

impl Failures {
    /// Begins the list of a run in a folder that this process holds; that of the run before goes.
    pub(crate) fn begin(folder: &Path) -> Result<Self, StudyError> {
        let path = path_in(folder);
        remove_if_exists(&path)?;
        Ok(Self {
            path,
            journal: Mutex::default(),
        })
    }

    /// Notes a failure. Where it cannot be written the run says it all the same, at its end.
    pub(crate) fn note(&self, unit: &UnitId, error: &StudyError) {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if journal.is_none() {
            *journal = LineJournal::open::<FailedUnit>(&self.path)
                .ok()
                .map(|(journal, _)| journal);
        }
        if let Some(journal) = journal.as_mut() {
            let failed = FailedUnit {
                unit: unit.clone(),
                error: error.to_string(),
                hint: error.hint().to_owned(),
            };
            journal.add(&failed).ok();
        }
    }
}

/// The failures of the last run of a folder, which may still be going on.
pub(crate) fn read_failures(folder: &Path) -> Result<Vec<FailedUnit>, StudyError> {
    let path = path_in(folder);
    let bytes = LineKind::Log.bytes_if_exists(&path)?.unwrap_or_default();
    Ok(LineKind::Log.lines(&path, &bytes)?.whole_values()?)
}

fn path_in(folder: &Path) -> PathBuf {
    folder.join("private").join("failed.jsonl")
}
