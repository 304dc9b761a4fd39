//! A unit of a plan as whoever looks on knows it, and how long the work of many still takes.

use crate::UnitId;
use crate::followed_sends::{FollowedSends, RecordSends};
use crate::own_format::EarlyUnitEnd;
use crate::recent_sends::{Sends, Steps};
use crate::spent_money::SpentMoney;
use ktd_client::money::KeyName;
use ktd_record::spending::Spending;
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
    /// What its record says that it cost; none where the log of its sends says it.
    pub(crate) spending: Option<Spending>,
    /// Where its record may lie.
    pub(crate) places: Vec<PathBuf>,
}

/// What was asked, and what was charged for it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Charged {
    pub(crate) asked: u64,
    pub(crate) answered: u64,
    pub(crate) spent: SpentMoney,
    /// Whether nobody knows what a part of it cost.
    pub(crate) is_unpriced: bool,
}

/// What units have done and have to do, by the steps that they were answered in.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) units_left: usize,
    pub(crate) steps_done: u64,
    steps_left: u64,
    /// Steps that ended in the last ten minutes.
    steps_lately: u64,
    /// When the first request of the last ten minutes was sent.
    first_lately_ms: Option<i64>,
}

impl Charged {
    /// By a record.
    pub(crate) fn recorded(spending: &Spending) -> Self {
        let sends = spending.sends;
        let answered = sends.reported + sends.estimated + sends.incomplete;
        let known = spending.cost.zip(spending.total());
        Self {
            asked: answered + sends.unknown + sends.uncharged,
            answered,
            spent: known.map_or_else(SpentMoney::default, |(cost, total)| SpentMoney {
                paid_picodollars: cost.paid_picodollars.0,
                at_most_picodollars: total.0,
            }),
            is_unpriced: known.is_none(),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.answered += other.answered;
        self.spent.add_spent(other.spent);
        self.is_unpriced |= other.is_unpriced;
    }

    /// Adds a log of sends.
    pub(crate) fn add_log(&mut self, log: &RecordSends) {
        for sends in log.by_key.values() {
            self.add(Self {
                asked: sends.left(),
                answered: sends.answered,
                spent: sends.spent(),
                is_unpriced: sends.is_unpriced(),
            });
        }
    }
}

impl NotedUnit {
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(PathBuf::as_path)
    }

    /// What it has cost: by its record, or by the log of its sends.
    pub(crate) fn charged(&self, sends: &FollowedSends) -> Charged {
        let Some(spending) = &self.spending else {
            let mut charged = Charged::default();
            let logs = self.folders().filter_map(|folder| sends.of_record(folder));
            logs.for_each(|log| charged.add_log(log));
            return charged;
        };
        Charged::recorded(spending)
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
            let keys = own.into_iter().flat_map(|own| own.by_key.values());
            let first = keys.filter_map(Sends::first_lately_ms).min();
            work.first_lately_ms = [work.first_lately_ms, first].into_iter().flatten().min();
        }
        work
    }

    /// Seconds until their last step, at the pace of the last ten minutes; none where no step ended in them. What was asked outside any
    /// unit tells no pace.
    pub(crate) fn seconds_left(&self, now_ms: i64) -> Option<u64> {
        if self.units_left == 0 {
            return Some(0);
        }
        let lasted_ms = now_ms.saturating_sub(self.first_lately_ms?);
        let lasted_ms = u64::try_from(lasted_ms).ok()?;
        let left_ms = self
            .steps_left
            .saturating_mul(lasted_ms)
            .checked_div(self.steps_lately)?;
        Some(left_ms.div_ceil(1_000))
    }
}
