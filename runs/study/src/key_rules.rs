//! Rules that keys of every file share.

use crate::StudyError;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Refuses a number that is not within a range.
///
/// # Errors
/// [`StudyError`] naming the key and the range.
pub fn within<N: PartialOrd + Display + Copy>(
    key: &str,
    value: N,
    range: RangeInclusive<N>,
) -> Result<(), StudyError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(StudyError::input(
        format_args!("{key} is {value}"),
        format_args!("give a number from {} to {}", range.start(), range.end()),
    ))
}

/// Refuses a name that is not that of a folder, and of nothing else.
///
/// # Errors
/// [`StudyError`] with the name.
pub fn plain_name(name: &str) -> Result<(), StudyError> {
    let allowed = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed) {
        return Ok(());
    }
    Err(StudyError::input(
        format_args!("the name {name:?} is no name of a folder"),
        "use letters, digits, `-`, `_` and `.`",
    ))
}
