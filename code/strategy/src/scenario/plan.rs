//! Plans of scenarios: the shape of the bars, and the rules that must and must not fire on them.

use super::paths::{PairPlan, Stretch};
use crate::reference::DocumentId;
use serde::Deserialize;

/// One plan a line, in the order of documents; the long run of each is named `long`.
static PLANS: &str = include_str!("../../scenarios/plans.jsonl");

/// What tells who reads it a scenario: the beginning of each plan, up to its first stretches.
#[must_use]
pub fn scenario_answers() -> Vec<String> {
    const BYTES: usize = 72;
    let starts = PLANS.lines().map(|line| line.get(..BYTES).unwrap_or(line));
    starts.map(str::to_owned).collect()
}

/// One scenario as it is planned. Of the shapes exactly one is there.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioPlan {
    document: String,
    pub(super) name: String,
    /// One asset, daily bars: stretches of its path.
    daily: Option<Vec<Stretch>>,
    /// One asset, sessions of 15-minute bars.
    sessions: Option<Vec<Stretch>>,
    /// Two assets.
    pair: Option<PairPlan>,
    /// Of a pair of contracts: days after which the near one expires, again and again.
    expiry_days: Option<usize>,
    /// Several assets, each on its own stretches.
    basket: Option<Vec<Vec<Stretch>>>,
    /// The constituents of an index.
    index: Option<Vec<ConstituentPlan>>,
    /// Bar from which the last constituent has another weight, and that weight.
    last_weight_change: Option<(usize, f64)>,
    /// Whether nothing at all may be done.
    #[serde(default)]
    pub(super) is_quiet: bool,
    /// Rules that must fire.
    pub(super) wanted: Vec<String>,
    /// Rules that must not.
    pub(super) unwanted: Vec<String>,
    /// Closed trades, least and most.
    pub(super) trades: (usize, usize),
}

/// Path and weight of one constituent of an index.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstituentPlan {
    pub(super) stretches: Vec<Stretch>,
    pub(super) weight: f64,
}

/// Shape of the bars of a plan.
pub(super) enum Shape<'a> {
    Daily(&'a [Stretch]),
    Sessions(&'a [Stretch]),
    Pair(&'a PairPlan),
    /// With the days after which the near contract expires.
    Contracts(&'a PairPlan, usize),
    Basket(&'a [Vec<Stretch>]),
    /// With the bar and weight of the last one's change.
    Index(&'a [ConstituentPlan], Option<(usize, f64)>),
}

impl ScenarioPlan {
    /// The one shape; a pair by default of a line that has none, which the test of the plans refuses.
    pub(super) fn shape(&self) -> Shape<'_> {
        match (&self.daily, &self.sessions, &self.pair, &self.basket, &self.index) {
            (Some(stretches), ..) => Shape::Daily(stretches),
            (_, Some(stretches), ..) => Shape::Sessions(stretches),
            (_, _, Some(pair), ..) => self
                .expiry_days
                .map_or(Shape::Pair(pair), |days| Shape::Contracts(pair, days)),
            (_, _, _, Some(assets), _) => Shape::Basket(assets),
            (_, _, _, _, Some(constituents)) => Shape::Index(constituents, self.last_weight_change),
            (None, None, None, None, None) => Shape::Daily(&[]),
        }
    }

    #[cfg(test)]
    fn shapes(&self) -> usize {
        usize::from(self.daily.is_some())
            + usize::from(self.sessions.is_some())
            + usize::from(self.pair.is_some())
            + usize::from(self.basket.is_some())
            + usize::from(self.index.is_some())
    }
}

/// The plans of a document's scenarios, its long run last.
pub(super) fn plans(document: DocumentId) -> Vec<ScenarioPlan> {
    PLANS
        .lines()
        // Lines that cannot be read are found by the test below.
        .filter_map(|line| serde_json::from_str::<ScenarioPlan>(line).ok())
        .filter(|plan| plan.document == document.label())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_plan_of_one_shape() {
        let read: usize = DocumentId::ALL.iter().map(|id| plans(*id).len()).sum();
        assert_eq!(read, PLANS.lines().count());
        for id in DocumentId::ALL {
            let plans = plans(id);
            assert!(plans.iter().all(|plan| plan.shapes() == 1), "{id}");
            assert_eq!(plans.last().unwrap().name, crate::LONG_RUN, "{id}");
        }
    }
}
