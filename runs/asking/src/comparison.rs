//! What a record gives, against what was written from it.

use crate::AskingError;
use ktd_io::whole_file::read_if_exists;
use std::path::Path;

/// Compares bytes that were made again with a file.
///
/// # Errors
/// [`AskingError::Difference`] naming the file, and the first byte that differs where it is there.
pub fn compare_with_file(path: &Path, made: &[u8], hint: &'static str) -> Result<(), AskingError> {
    let found = match read_if_exists(path)? {
        Some(kept) if kept == made => return Ok(()),
        Some(kept) => {
            let same = kept.iter().zip(made).take_while(|(left, right)| left == right);
            format!("what the record gives differs from byte {} on", same.count())
        }
        None => "the file is missing".to_owned(),
    };
    Err(AskingError::Difference {
        what: format!("{}: {found}", path.display()),
        hint,
    })
}
