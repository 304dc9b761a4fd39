//! Cells of rates.

use ktd_factor_code::TaskRate;
use ktd_study::StudyError;
use ktd_view::draw::TableCell;

/// Why a share of nothing is none.
pub(super) const NO_TASK: &str = "no task";

pub(super) fn missing(reason: &str) -> TableCell {
    TableCell::Missing(reason.to_owned())
}

pub(super) fn share(rate: TaskRate) -> TableCell {
    rate.share().map_or_else(|| missing(NO_TASK), TableCell::Percent)
}

/// A share with its Wilson bounds.
pub(super) fn bounded(rate: TaskRate) -> [TableCell; 3] {
    match rate.interval() {
        Some(interval) => [
            share(rate),
            TableCell::Percent(interval.lower),
            TableCell::Percent(interval.upper),
        ],
        None => [missing(NO_TASK), missing(NO_TASK), missing(NO_TASK)],
    }
}

pub(super) fn count(value: u64) -> TableCell {
    TableCell::Count(usize::try_from(value).unwrap_or(usize::MAX))
}

pub(super) fn text(value: &str) -> TableCell {
    TableCell::Text(value.to_owned())
}

pub(super) fn invalid(error: impl std::fmt::Display) -> StudyError {
    StudyError::input(error, "this is a defect of the program: report it")
}
