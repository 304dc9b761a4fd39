//! A unit of a plan as whoever looks on knows it, and how long the work of many still takes.

use crate::UnitId;
use crate::followed_sends::FollowedSends;
use crate::own_format::EarlyUnitEnd;
use crate::recent_sends::{SendSum, Steps};
use ktd_client::money::KeyName;
use std::path::{Path, PathBuf};

/// Unit of a plan, and how far it is.
#[derive(Debug)]
pub(crate) struct NotedUnit {
    pub(crate) id: UnitId,
    /// The id of its agent, where it has one.
    pub(crate) agent: Option<String>,
    /// The key that it waits for.
    pub(crate) key: Option<KeyName>,
    pub(crate) steps: u64,
    pub(crate) is_finished: bool,
    pub(crate) is_open: bool,
    /// Where it ended, of a finished one that has not come to its last step.
    pub(crate) early_end: Option<EarlyUnitEnd>,
    /// Steps that were lost to the infrastructure, of a finished one.
    pub(crate) lost_steps: u64,
    /// Steps that are over as its own record says, of an open one.
    pub(crate) recorded_steps: u64,
    /// Where its record may lie.
    pub(crate) places: Vec<PathBuf>,
}

/// What units have done and have to do, by the steps that they were answered in.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) units_left: usize,
    pub(crate) steps_done: u64,
    steps_left: u64,
    /// Steps that ended in the last ten minutes.
    steps_lately: u64,
}

impl NotedUnit {
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(PathBuf::as_path)
    }

    /// Steps that were played, or may be yet.
    pub(crate) fn playable(&self) -> u64 {
        let end = self.early_end.as_ref();
        end.map_or(self.steps, |end| end.steps.min(self.steps))
    }

    /// Whether every step was lost to the infrastructure.
    pub(crate) fn is_lost(&self) -> bool {
        0 < self.lost_steps && self.playable() <= self.lost_steps
    }
}

impl Work {
    pub(crate) fn of<'u>(units: impl Iterator<Item = &'u NotedUnit>, sends: &FollowedSends) -> Self {
        let (mut work, never) = (Self::default(), Steps::default());
        for unit in units {
            let own = unit.folders().find_map(|folder| sends.of_record(folder));
            let steps = own.map_or(&never, |own| &own.steps);
            let playable = unit.playable();
            let recorded = own.map_or(unit.recorded_steps.min(playable), |_| 0);
            let over = steps.over(playable, unit.is_finished).max(recorded);
            work.units_left += usize::from(!unit.is_finished);
            work.steps_done += over;
            work.steps_left += playable.saturating_sub(over);
            work.steps_lately += steps.over_lately(playable, unit.is_finished);
        }
        work
    }

    /// Seconds until their last step, at the pace of the last ten minutes; none where no step ended in them.
    pub(crate) fn seconds_left(&self, sends: &SendSum, now_ms: i64) -> Option<u64> {
        if self.units_left == 0 {
            return Some(0);
        }
        let lasted_ms = now_ms.saturating_sub(sends.first_lately_ms?);
        let lasted_ms = u64::try_from(lasted_ms).ok()?;
        let left_ms = self
            .steps_left
            .saturating_mul(lasted_ms)
            .checked_div(self.steps_lately)?;
        Some(left_ms.div_ceil(1_000))
    }
}
