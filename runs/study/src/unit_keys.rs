//! The keys whose answers the units of a plan wait for: the owner's business, no part of a record.

use crate::kind::Planned;
use crate::{StudyError, UnitId};
use ktd_client::money::KeyName;
use ktd_io::line_file::{LineKind, line_bytes};
use ktd_io::whole_file::{create_private, write_whole};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Unit that waits for a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitKey {
    pub(crate) unit: UnitId,
    key: String,
    base_url: String,
    /// Its steps in all.
    pub(crate) steps: u64,
}

impl UnitKey {
    pub(crate) fn name(&self) -> KeyName {
        KeyName {
            key: self.key.clone(),
            base_url: self.base_url.clone(),
        }
    }
}

/// Notes the keys of a plan, where a unit waits for one.
pub(crate) fn keep_unit_keys<U>(folder: &Path, plan: &[Planned<U>]) -> Result<(), StudyError> {
    let line = |unit: &Planned<U>| {
        let KeyName { key, base_url } = unit.key.clone()?;
        Some(UnitKey {
            unit: unit.id.clone(),
            key,
            base_url,
            steps: unit.steps,
        })
    };
    let lines: Vec<UnitKey> = plan.iter().filter_map(line).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let path = path_in(folder);
    create_private(&folder.join("private"))?;
    Ok(write_whole(&path, &line_bytes(&path, &lines)?)?)
}

/// The keys of a plan, as they were noted; none of a study that notes none.
pub(crate) fn read_unit_keys(folder: &Path) -> Result<Vec<UnitKey>, StudyError> {
    let path = path_in(folder);
    let bytes = LineKind::Log.bytes_if_exists(&path)?.unwrap_or_default();
    Ok(LineKind::Log.lines(&path, &bytes)?.whole_values()?)
}

fn path_in(folder: &Path) -> PathBuf {
    folder.join("private").join("keys.jsonl")
}
