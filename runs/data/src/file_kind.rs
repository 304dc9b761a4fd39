//! What a file holds, by its first bytes.

use crate::DataFileError;
use ktd_io::whole_file::starts_with;
use std::path::Path;

/// Whether a file is Parquet, by its first bytes.
pub(super) fn is_parquet(path: &Path) -> Result<bool, DataFileError> {
    Ok(starts_with(path, b"PAR1")?)
}
