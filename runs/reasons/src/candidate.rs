//! What was found in a reason, before it is known what it overlaps.

use super::category::Category;
use ktd_guard::{FoundCode, FoundDate, FoundLevel, Period};
use std::ops::Range;

/// The name of what finds codes.
const CODE_PATTERNS: &str = "code patterns";
/// The name of what finds dates.
const DATE_PATTERNS: &str = "date patterns";
/// The name of what finds levels of an index.
const LEVEL_PATTERNS: &str = "level patterns";

/// Something that was found, before it is known what it overlaps.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'s> {
    /// Bytes of the folded text.
    pub(super) part: Range<usize>,
    /// `None` for a phrase that is no hit.
    pub(super) category: Option<Category>,
    /// The list that it is of.
    pub(super) source: &'s str,
    /// The lower wins at equal length.
    pub(super) rank: usize,
    pub(super) kind: MatchKind,
}

impl From<FoundCode> for Candidate<'_> {
    fn from(code: FoundCode) -> Self {
        Self {
            part: code.part,
            category: Some(Category::Company),
            source: CODE_PATTERNS,
            rank: usize::MAX,
            kind: MatchKind::Code(code.digits),
        }
    }
}

impl From<FoundDate> for Candidate<'_> {
    fn from(date: FoundDate) -> Self {
        Self {
            part: date.part,
            category: Some(Category::RealDate),
            source: DATE_PATTERNS,
            rank: usize::MAX,
            kind: MatchKind::Date(date.period),
        }
    }
}

impl From<FoundLevel> for Candidate<'_> {
    fn from(level: FoundLevel) -> Self {
        Self {
            part: level.part,
            category: Some(Category::Level),
            source: LEVEL_PATTERNS,
            rank: usize::MAX,
            kind: MatchKind::Level(level.points),
        }
    }
}

/// What a hit says, as far as the harness may have shown it before.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MatchKind {
    /// A word of a list.
    Word,
    /// A code, by its six digits.
    Code(String),
    /// A date.
    Date(Period),
    /// A level of an index, points; `None` where it is written in Chinese digits.
    Level(Option<f64>),
}
