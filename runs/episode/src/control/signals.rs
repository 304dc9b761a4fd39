//! Predictions made elsewhere, traded inside a track.

use super::shown_names::ShownNames;
use ktd_baselines::Plan;
use ktd_data::scores::ScoreTable;
use ktd_env::exchange::{Rules, Side, fee_rate};
use ktd_env::{DayIndex, Market, NameId};
use ktd_experiment::agent::SignalStrategy;
use ktd_qlib::TopkDropout;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Stocks that the highest scores choose at most.
const TOP_COUNT: u32 = 20;

/// Qlib's published configuration of its benchmarks on the CSI300: 50 stocks, 5 of them replaced a day.
const QLIB_TOPK: u32 = 50;
const QLIB_TOPK_PER_DROP: u32 = 10;

/// Trades the scores of the last close: those dated the trading day before the step's, and no others.
///
/// Only members of the index that the step shows are wanted. A day without scores changes nothing.
#[derive(Debug)]
pub(super) struct Signals {
    pub(super) market: Arc<Market>,
    pub(super) shown: ShownNames,
    pub(super) rules: Rules,
    pub(super) days: Vec<DayIndex>,
    pub(super) scores: ScoreTable,
    pub(super) strategy: Choice,
}

/// From scores to holdings.
#[derive(Debug, Clone, Copy)]
pub(super) enum Choice {
    /// As an experiment names it, for scores that are expected returns.
    Named(SignalStrategy),
    /// The twenty highest, whatever a trade costs: scores without a unit cannot be held against costs.
    Highest,
}

impl Signals {
    /// What may be bought, by place in the panel: scores of members as of the close before the step's day.
    fn scores_as_of(&self, step: usize, as_of: DayIndex) -> Option<Vec<Option<f64>>> {
        let scores = self.scores.on(as_of)?;
        let view = self.market.as_of(as_of);
        let score = |name: NameId| {
            let score = scores.get(&name).copied()?;
            (view.is_member(name) && self.shown.alias(step, name).is_some()).then_some(score)
        };
        Some(self.market.names().map(|(name, _)| score(name)).collect())
    }

    /// The places to hold, those that are kept first.
    fn choose(&self, day: DayIndex, held: &BTreeSet<usize>, scores: &[Option<f64>]) -> Vec<usize> {
        let count = usize::try_from(TOP_COUNT.min(self.rules.max_positions)).unwrap_or(0);
        match self.strategy {
            Choice::Highest => highest(held, scores, count, 0.0),
            Choice::Named(SignalStrategy::Top20) => {
                let round_trip = self.market.date(day).map_or(0.0, |date| {
                    fee_rate(&self.rules, Side::Buy, date) + fee_rate(&self.rules, Side::Sell, date)
                });
                highest(held, scores, count, round_trip)
            }
            Choice::Named(SignalStrategy::TopkDropout) => {
                let topk = QLIB_TOPK.min(self.rules.max_positions);
                let strategy = TopkDropout {
                    topk,
                    n_drop: topk.div_ceil(QLIB_TOPK_PER_DROP),
                    hold_thresh: 1,
                    only_tradable: false,
                    forbid_all_trade_at_limit: true,
                };
                let chosen = strategy.replacement(held, scores);
                let kept = held.iter().filter(|place| !chosen.sell.contains(place));
                kept.chain(&chosen.buy).copied().collect()
            }
        }
    }
}

/// The places of the highest scores; one that is held counts `threshold` more, so that it is kept unless another is worth
/// the costs of the exchange. What is held without a score is given up.
fn highest(held: &BTreeSet<usize>, scores: &[Option<f64>], count: usize, threshold: f64) -> Vec<usize> {
    let mut ranked: Vec<(usize, f64)> = scores
        .iter()
        .enumerate()
        .filter_map(|(place, score)| {
            let bonus = if held.contains(&place) { threshold } else { 0.0 };
            Some((place, (*score)? + bonus))
        })
        .collect();
    ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    ranked.truncate(count);
    ranked.into_iter().map(|(place, _)| place).collect()
}

impl Plan for Signals {
    fn wanted(&self, step: usize, held: &[String]) -> Vec<String> {
        let day = step.checked_sub(1).and_then(|place| self.days.get(place));
        let as_of = day.and_then(|day| Some((*day, self.scores_as_of(step, day.before()?)?)));
        let Some((day, scores)) = as_of else {
            return held.to_vec();
        };
        let names: Vec<NameId> = self.market.names().map(|(name, _)| name).collect();
        let place = |id: &String| {
            let name = self.shown.resolve(step, id)?;
            names.iter().position(|known| *known == name)
        };
        let known: BTreeMap<usize, &String> = held.iter().filter_map(|id| Some((place(id)?, id))).collect();
        let chosen = self.choose(day, &known.keys().copied().collect(), &scores);
        let id = |place: &usize| match known.get(place) {
            Some(id) => Some((*id).clone()),
            None => self.shown.alias(step, *names.get(*place)?),
        };
        chosen.iter().filter_map(id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_kept_unless_another_is_worth_the_costs() {
        let scores = [Some(0.010), Some(0.012), Some(0.014), None];
        let held = BTreeSet::from([0, 3]);
        assert_eq!(highest(&held, &scores, 2, 0.001), [2, 1]);
        assert_eq!(highest(&held, &scores, 2, 0.003), [2, 0]);
        assert_eq!(highest(&held, &scores, 2, 0.005), [0, 2]);
        assert_eq!(highest(&BTreeSet::new(), &scores, 20, 0.005), [2, 1, 0]);
    }
}
