//! JSON files of a study's folder.

use crate::StudyError;
use ktd_io::whole_file::{parse_json, read_if_exists};
use serde::de::DeserializeOwned;
use std::path::Path;

/// A JSON file, where there is one.
pub(crate) fn read_as<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StudyError> {
    let bytes = read_if_exists(path)?;
    Ok(bytes.map(|bytes| parse_json(path, &bytes)).transpose()?)
}
