//! What a record gives, against what was written from it.

use crate::AskingError;
use ktd_io::whole_file::read_if_exists;
use std::path::Path;

/// Compares bytes that were made again with a file.
///
/// # Errors
/// [`AskingError::Difference`] naming the file and the first byte that differs.
pub fn compare_with_file(path: &Path, made: &[u8], hint: &'static str) -> Result<(), AskingError> {
    let kept = read_if_exists(path)?.unwrap_or_default();
    if kept == made {
        return Ok(());
    }
    let same = kept.iter().zip(made).take_while(|(left, right)| left == right);
    Err(AskingError::Difference {
        what: format!(
            "{}: what the record gives differs from byte {} on",
            path.display(),
            same.count()
        ),
        hint,
    })
}
