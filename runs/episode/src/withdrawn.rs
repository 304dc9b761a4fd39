//! Agents that are asked nothing more.

use crate::EpisodeError;
use ktd_io::whole_file::{create_directory, json_bytes, read_json, write_whole};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// `withdrawn.json` of a results directory: agents that are asked nothing more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithdrawnAgents {
    /// Their ids.
    pub agents: BTreeSet<String>,
}

impl WithdrawnAgents {
    pub(crate) fn path(output: &Path) -> PathBuf {
        output.join("withdrawn.json")
    }

    /// Those of a results directory; nobody where it names none.
    ///
    /// # Errors
    /// [`EpisodeError`] for a file that cannot be read.
    pub fn read(output: &Path) -> Result<Self, EpisodeError> {
        let path = Self::path(output);
        if !path.exists() {
            return Ok(Self::default());
        }
        Ok(read_json(&path)?)
    }

    /// Keeps them in a results directory, which is made where it is missing.
    ///
    /// # Errors
    /// [`EpisodeError`] when it cannot be written.
    pub(crate) fn write(&self, output: &Path) -> Result<(), EpisodeError> {
        create_directory(output)?;
        let path = Self::path(output);
        Ok(write_whole(&path, &json_bytes(&path, self)?)?)
    }
}
