//! What differs between the same step of two episodes.

use crate::episode::{Episode, TimelineStep};
use std::collections::BTreeMap;

/// A step of two episodes.
#[derive(Debug, Clone)]
pub struct StepPair<'e> {
    /// The step.
    pub step: usize,
    /// Of the first episode, where it has it.
    pub left: Option<&'e TimelineStep>,
    /// Of the second one.
    pub right: Option<&'e TimelineStep>,
    /// What differs.
    pub differs: Vec<&'static str>,
}

/// The steps that either of two episodes has, beside each other. Stocks are compared by what they are called: by real codes
/// where they are asked for, else as shown.
#[must_use]
pub fn pairs<'e>(left: &'e Episode, right: &'e Episode) -> Vec<StepPair<'e>> {
    let mut sides: BTreeMap<usize, (Option<&TimelineStep>, Option<&TimelineStep>)> = BTreeMap::new();
    for step in &left.steps {
        sides.entry(step.record.step).or_default().0.get_or_insert(step);
    }
    for step in &right.steps {
        sides.entry(step.record.step).or_default().1.get_or_insert(step);
    }
    let pair = |(step, sides): (usize, (Option<&'e TimelineStep>, Option<&'e TimelineStep>))| StepPair {
        step,
        left: sides.0,
        right: sides.1,
        differs: differs((left, sides.0), (right, sides.1)),
    };
    sides.into_iter().map(pair).collect()
}

fn differs(
    (left, one): (&Episode, Option<&TimelineStep>),
    (right, other): (&Episode, Option<&TimelineStep>),
) -> Vec<&'static str> {
    let (Some(one), Some(other)) = (one, other) else {
        return vec!["only one has it"];
    };
    let parts = [
        ("outcome", one.record.outcome == other.record.outcome),
        ("tools", one.record.calls == other.record.calls),
        ("orders", orders(left, one) == orders(right, other)),
        (
            "faults",
            one.record.model_faults == other.record.model_faults
                && one.record.infrastructure_faults == other.record.infrastructure_faults,
        ),
        ("fills", one.fills == other.fills),
    ];
    let differing = parts.iter().filter(|(_, same)| !same);
    differing.map(|(part, _)| *part).collect()
}

/// Stock, side, weight and shares of each order, in whatever sequence they were written.
type OrderKey<'e> = (&'e str, &'e str, Option<u32>, Option<i64>);

fn orders<'e>(episode: &'e Episode, step: &'e TimelineStep) -> Vec<OrderKey<'e>> {
    let orders = step.record.orders.iter();
    let keys = orders.map(|order| {
        let stock = episode.real.get(&order.stock_id).unwrap_or(&order.stock_id);
        (
            stock.as_str(),
            order.side.as_str(),
            order.target_weight_millionths,
            order.shares,
        )
    });
    let mut keys: Vec<OrderKey<'_>> = keys.collect();
    keys.sort_unstable();
    keys
}
