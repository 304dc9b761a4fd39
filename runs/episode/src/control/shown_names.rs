//! The ids under which an episode shows stocks, step by step.

use ktd_env::{DayIndex, FactorTable, Market, NameId};
use ktd_masking::{Mask, Roster};

/// From real names to the ids of a mask and back: one map for the episode, or one a day where ids are renewed.
#[derive(Debug)]
pub(super) struct ShownNames {
    mask: Mask,
    /// The roster of each day; empty where no rosters are shown.
    rosters: Vec<Roster>,
}

impl ShownNames {
    pub(super) fn new(mask: Mask, market: &Market, factors: &FactorTable, days: &[DayIndex]) -> Self {
        let roster = |day: &DayIndex| mask.roster(&market.as_of(day.before()?).with_factors(factors));
        Self {
            rosters: days.iter().filter_map(roster).collect(),
            mask,
        }
    }

    /// The name behind an id that was shown at a step or before.
    pub(super) fn resolve(&self, step: usize, id: &str) -> Option<NameId> {
        let mut rosters = self.rosters.iter().take(step);
        let listed = rosters.find_map(|roster| Some(roster.find(id)?.name()));
        listed.or_else(|| self.mask.resolve(id).ok())
    }

    /// The id of a name at a step; none where the step does not show it, so that it cannot be ordered.
    pub(super) fn alias(&self, step: usize, name: NameId) -> Option<String> {
        if let Some(roster) = step.checked_sub(1).and_then(|place| self.rosters.get(place)) {
            let mut stocks = roster.stocks().iter();
            return stocks
                .find(|stock| stock.name() == name)
                .map(|stock| stock.id().to_owned());
        }
        let shown = serde_json::to_value(self.mask.asset(name)).ok()?;
        shown.as_str().map(str::to_owned)
    }
}
