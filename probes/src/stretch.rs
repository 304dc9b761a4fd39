//! Days within which episodes of probes lie.

use std::ops::Range;

/// Trading days, as places of the panel's calendar, within which episodes of probes lie.
pub type Stretch = Range<usize>;

/// Trading days before the first as-of day, so that every factor has its history.
pub(crate) const HISTORY_DAYS: usize = 260;
