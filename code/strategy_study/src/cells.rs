//! Cells of tables.

use ktd_view::draw::TableCell;

pub(crate) fn text(value: &str) -> TableCell {
    TableCell::Text(value.to_owned())
}

pub(crate) fn missing(reason: &str) -> TableCell {
    TableCell::Missing(reason.to_owned())
}

pub(crate) fn count(value: u64) -> TableCell {
    TableCell::Count(usize::try_from(value).unwrap_or(usize::MAX))
}

/// A number, or why there is none.
pub(crate) fn figure(value: Option<f64>, form: fn(f64) -> TableCell, reason: &str) -> TableCell {
    value.map_or_else(|| missing(reason), form)
}

/// Why what counts valid versions alone is missing.
pub(crate) const NONE_VALID: &str = "no ranked version passes all gates";
/// Why what reviewers say is missing.
pub(crate) const NO_REVIEW: &str = "no valid submission that another model reviewed";
