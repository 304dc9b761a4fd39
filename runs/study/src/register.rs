//! What the runs of a folder are counted as, whatever became of them.

use crate::StudyError;
use crate::json_file::read_as;
use ktd_io::whole_file::{json_bytes, write_whole};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

const REGISTER: &str = "register.json";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Register {
    counted: Vec<Value>,
}

/// How many values a finished study has seen, its own among them.
pub(crate) fn counted(folder: &Path, value: Option<&Value>) -> Result<usize, StudyError> {
    let path = folder.join(REGISTER);
    let register: Register = read_as(&path)?.unwrap_or_default();
    if value.is_some_and(|value| !register.counted.contains(value)) {
        let what = format!("{}: this run is not counted in it", path.display());
        return Err(StudyError::difference(
            what,
            "the file was changed: take the folder from whoever made it",
        ));
    }
    Ok(register.counted.len())
}

/// Writes a value, once; how many the folder has seen. Its lock is held.
pub(crate) fn count(folder: &Path, value: Option<Value>) -> Result<usize, StudyError> {
    let path = folder.join(REGISTER);
    let mut register: Register = read_as(&path)?.unwrap_or_default();
    if let Some(value) = value.filter(|value| !register.counted.contains(value)) {
        register.counted.push(value);
        write_whole(&path, &json_bytes(&path, &register)?)?;
    }
    Ok(register.counted.len())
}
