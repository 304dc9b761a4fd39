//! Where a value stands in JSON, as a pointer (RFC 6901 without escapes) that is not spelt out.

use std::fmt;

/// Where a value stands in a request. It is spelt out for a finding alone: most requests have none.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pointer<'p> {
    Root,
    Key(&'p Self, &'p str),
    Place(&'p Self, usize),
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(outer, key) => write!(f, "{outer}/{key}"),
            Self::Place(outer, place) => write!(f, "{outer}/{place}"),
        }
    }
}
