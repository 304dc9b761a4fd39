//! Which ranking an episode belongs to.

use ktd_bundle::bundle_ref::BundleRef;
use ktd_experiment::mask_arm::{MaskInstruction, arm_label};
use ktd_masking::{Level, Mode};
use std::cmp::Reverse;
use std::fmt;

/// A track, in the order in which tracks are shown: longest window first, then by mode and mask, the headline's first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TrackKey {
    days: Reverse<usize>,
    window: String,
    mode: Reverse<Mode>,
    level: Option<usize>,
    instruction: Option<MaskInstruction>,
    numeric: &'static str,
}

/// Mask levels in the order of tracks.
const TRACK_LEVELS: [Level; 4] = [Level::Blinded, Level::StockBlind, Level::DateBlind, Level::Bright];

impl fmt::Display for TrackKey {
    /// `long blinded/banded-5 open-research`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level.and_then(|place| TRACK_LEVELS.get(place));
        let level = level.map_or("", |level| arm_label(*level, self.instruction));
        let mode = self.mode.0.label();
        write!(f, "{} {level}/{} {mode}", self.window, self.numeric)
    }
}

impl TrackKey {
    /// The track of an episode of so many trading days.
    pub(super) fn of(bundle: &BundleRef, days: usize) -> Self {
        let header = &bundle.header;
        Self {
            days: Reverse(days),
            window: header.window.id.clone(),
            mode: Reverse(header.mode),
            level: TRACK_LEVELS.iter().position(|level| *level == header.mask.level),
            instruction: header.mask.instruction,
            numeric: header.mask.numeric.label(),
        }
    }
}
