//! What a record gives, against what was written from it.

use crate::AskingError;
use ktd_io::whole_file::read_if_exists;
use serde::Serialize;
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

/// Values as a file holds them, a line each.
///
/// # Errors
/// [`AskingError`] for a value that JSON cannot hold.
pub fn json_lines<T: Serialize>(path: &Path, values: &[T]) -> Result<Vec<u8>, AskingError> {
    let mut bytes = Vec::new();
    for value in values {
        serde_json::to_writer(&mut bytes, value)
            .map_err(|error| AskingError::damaged(path, error.to_string()))?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}
