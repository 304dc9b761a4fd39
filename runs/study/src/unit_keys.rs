//! Whose the units of a plan are, and whose answers they wait for: the owner's business, no part of a record.

use crate::kind::Planned;
use crate::{StudyError, UnitId};
use ktd_client::money::KeyName;
use ktd_io::line_file::{LineKind, line_bytes};
use ktd_io::whole_file::{create_private, write_whole};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Unit of an agent, or one that waits for a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitKey {
    pub(crate) unit: UnitId,
    /// The agent's id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    base_url: Option<String>,
    /// Its steps in all.
    pub(crate) steps: u64,
}

impl UnitKey {
    /// What the folder of a study notes of a unit of this agent.
    pub(crate) fn of<U>(unit: &Planned<U>, agent: Option<&str>) -> Self {
        let (key, base_url) = unit
            .key
            .clone()
            .map(|KeyName { key, base_url }| (key, base_url))
            .unzip();
        Self {
            unit: unit.id.clone(),
            agent: agent.map(str::to_owned),
            key,
            base_url,
            steps: unit.steps,
        }
    }

    /// The key that it waits for.
    pub(crate) fn name(&self) -> Option<KeyName> {
        let (key, base_url) = self.key.clone().zip(self.base_url.clone())?;
        Some(KeyName { key, base_url })
    }
}

/// Notes the units of a plan, where one of them has an agent or waits for a key.
pub(crate) fn keep_unit_keys(folder: &Path, units: Vec<UnitKey>) -> Result<(), StudyError> {
    let is_noted = |unit: &UnitKey| unit.agent.is_some() || unit.key.is_some();
    let lines: Vec<UnitKey> = units.into_iter().filter(is_noted).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let path = path_in(folder);
    create_private(&folder.join("private"))?;
    Ok(write_whole(&path, &line_bytes(&path, &lines)?)?)
}

/// The units of a plan, as they were noted; none of a study that notes none.
pub(crate) fn read_unit_keys(folder: &Path) -> Result<Vec<UnitKey>, StudyError> {
    let path = path_in(folder);
    let bytes = LineKind::Log.bytes_if_exists(&path)?.unwrap_or_default();
    Ok(LineKind::Log.lines(&path, &bytes)?.whole_values()?)
}

fn path_in(folder: &Path) -> PathBuf {
    folder.join("private").join("keys.jsonl")
}
