//! Names that may stand in paths and tables.

/// Whether a text may name a directory, and stand in a table that a spreadsheet opens: letters, digits, `-`, `_` and `.`,
/// at most [`NAME_LENGTH_MAX`] of them, the first neither `-` nor `.`.
#[must_use]
pub fn is_file_name(text: &str) -> bool {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    let has_length = (1..=NAME_LENGTH_MAX).contains(&text.len());
    has_length && text.chars().all(allowed) && !text.starts_with(['.', '-'])
}

/// The most characters of a name: file systems take 255, and a cell's directory joins several names.
pub const NAME_LENGTH_MAX: usize = 200;
