//! How long the declared rates of a key make an experiment last at least.

use crate::estimate::{Estimate, EstimatedQuantity};
use ktd_client::money::KeyName;
use ktd_experiment::cells::Cell;
use ktd_experiment::rate_limits::RateLimits;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

/// The time that one key's rates take. How fast a model answers is not known before it is asked, and comes on top.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Pace {
    /// The environment variable or file of the key; empty where none is sent.
    pub key: String,
    /// The agents that use it.
    pub agents: Vec<String>,
    /// Minutes.
    pub minutes: Minutes,
}

/// Minutes at the least, the expected and the most traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Minutes {
    /// At the least.
    pub least: u64,
    /// At the expected.
    pub expected: u64,
    /// At the most.
    pub most: u64,
}

/// The paces of the keys with rates a minute, in the order of their names.
#[must_use]
pub fn paces(limits: &BTreeMap<KeyName, RateLimits>, cells: &[Cell], estimate: &Estimate) -> Vec<Pace> {
    let limited = limits.iter().filter(|(_, limits)| limits.has_rate());
    limited
        .map(|(key, limits)| {
            let users = cells
                .iter()
                .filter(|cell| KeyName::of(&cell.agent, &cell.provider) == *key);
            let users: BTreeSet<&str> = users.map(|cell| cell.agent.id.as_str()).collect();
            let agents = estimate.agents.iter();
            let ranges: Vec<_> = agents
                .filter(|agent| users.contains(agent.agent.as_str()))
                .map(|agent| agent.range)
                .collect();
            let minutes = |part: fn(&crate::estimate::Range) -> &EstimatedQuantity| {
                minutes(ranges.iter().map(part), *limits)
            };
            Pace {
                key: key.key.clone(),
                agents: users.into_iter().map(str::to_owned).collect(),
                minutes: Minutes {
                    least: minutes(|range| &range.least),
                    expected: minutes(|range| &range.expected),
                    most: minutes(|range| &range.most),
                },
            }
        })
        .collect()
}

fn minutes<'a>(quantities: impl Iterator<Item = &'a EstimatedQuantity>, limits: RateLimits) -> u64 {
    let (mut calls, mut tokens) = (0_u64, 0_u64);
    for quantity in quantities {
        calls = calls.saturating_add(quantity.calls);
        let both = quantity.input_tokens.saturating_add(quantity.output_tokens);
        tokens = tokens.saturating_add(both);
    }
    let at =
        |count: u64, rate: Option<NonZeroU32>| rate.map_or(0, |rate| count.div_ceil(u64::from(rate.get())));
    at(calls, limits.requests_per_minute).max(at(tokens, limits.tokens_per_minute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_of_both_rates_counts() {
        let quantity = |calls, input_tokens| EstimatedQuantity {
            calls,
            input_tokens,
            output_tokens: 100,
            ..EstimatedQuantity::NOTHING
        };
        let both = [quantity(100, 900), quantity(20, 1_900)];
        let limits = |requests, tokens| RateLimits {
            requests_per_minute: NonZeroU32::new(requests),
            tokens_per_minute: NonZeroU32::new(tokens),
            burst: None,
            in_flight: None,
        };
        assert_eq!(minutes(both.iter(), limits(60, 0)), 2);
        assert_eq!(minutes(both.iter(), limits(60, 1_000)), 3);
        assert_eq!(minutes(both.iter(), limits(7, 1_000)), 18);
        assert_eq!(minutes(both.iter(), limits(0, 0)), 0);
    }
}
