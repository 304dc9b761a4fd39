//! `budget.json` beside the cells of an experiment: what it may spend, for those who look on.

use crate::RecordError;
use ktd_experiment::amount::Picodollars;
use ktd_io::whole_file::{Durability, IfExists, create_directory, read_json, write_file};
use serde::{Deserialize, Serialize};
use std::path::Path;

const NAME: &str = "budget.json";
const FORMAT: u32 = 1;

/// Caps of an experiment's spending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetFile {
    format: u32,
    /// The caps, the experiment's own first.
    pub caps: Vec<BudgetCap>,
}

/// The most that may be spent on something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetCap {
    /// What it bounds: `experiment`, or a vendor.
    pub scope: String,
    /// The cap.
    pub cap_picodollars: Picodollars,
}

impl BudgetFile {
    /// These caps.
    #[must_use]
    pub const fn new(caps: Vec<BudgetCap>) -> Self {
        Self { format: FORMAT, caps }
    }

    /// Writes it into a results directory, over the one of an earlier run.
    ///
    /// # Errors
    /// [`RecordError`] when it cannot be written.
    pub fn write(&self, results: &Path) -> Result<(), RecordError> {
        self.written(results, IfExists::Replace)
    }

    /// Writes it where there is none, beside others who do.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn keep(&self, results: &Path) -> Result<(), RecordError> {
        self.written(results, IfExists::Keep)
    }

    fn written(&self, results: &Path, if_exists: IfExists) -> Result<(), RecordError> {
        create_directory(results)?;
        let path = results.join(NAME);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| RecordError::damaged(&path, format!("it cannot be written: {error}")))?;
        text.push(b'\n');
        Ok(write_file(&path, &text, if_exists, Durability::Buffered)?)
    }

    /// Takes away the one of an earlier run, which had a budget.
    ///
    /// # Errors
    /// [`RecordError`] when it cannot be removed.
    pub fn remove(results: &Path) -> Result<(), RecordError> {
        let path = results.join(NAME);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(RecordError::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// The one of a results directory, where it has one of this format and it is no link.
    #[must_use]
    pub fn find(results: &Path) -> Option<Self> {
        let path = results.join(NAME);
        if path.is_symlink() || !path.is_file() {
            return None;
        }
        let found: Self = read_json(&path).ok()?;
        (found.format == FORMAT).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(BudgetFile::find(folder.path()), None);
        let cap = BudgetCap {
            scope: "experiment".to_owned(),
            cap_picodollars: Picodollars(2_000_000_000_000),
        };
        let written = BudgetFile::new(vec![cap]);
        written.write(&folder.path().join("new")).unwrap();
        assert_eq!(BudgetFile::find(&folder.path().join("new")), Some(written));
        BudgetFile::remove(&folder.path().join("new")).unwrap();
        BudgetFile::remove(&folder.path().join("new")).unwrap();
        assert_eq!(BudgetFile::find(&folder.path().join("new")), None);
        std::fs::write(folder.path().join(NAME), "{").unwrap();
        assert_eq!(BudgetFile::find(folder.path()), None);
    }
}
