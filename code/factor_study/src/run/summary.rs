//! Counts that follow from the events of a unit.

use super::config::FactorCodeConfig;
use super::found::{JudgedAnswer, RoundSpending};
use crate::error::CodeError;
use crate::scored::ScoredRound;
use crate::tables::{counts_json, rule_name};
use ktd_factor_code::{AccuracyRules, FactorTasks, FactorVerdict, JudgeRule, LayersPassed, mean_pass_at_k};
use ktd_record::spending::Spending;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The counts of a round, by level and over all tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundCounts {
    /// The round, from 1.
    pub round: u32,
    /// Groups of tasks with how many of them pass each layer.
    pub counts: BTreeMap<String, Value>,
}

/// The chance that one of k samples passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PassAtK {
    /// The k.
    pub k: u64,
    /// The round after which samples are counted.
    pub round: u32,
    /// Tasks whose samples all have a verdict.
    pub tasks: usize,
    /// By rule and layer.
    pub shares: BTreeMap<String, BTreeMap<String, Option<f64>>>,
}

impl RoundSpending {
    pub(crate) fn of(round: u32, spent: &Spending) -> Self {
        let sends = &spent.sends;
        Self {
            round,
            requests: sends.reported + sends.estimated + sends.incomplete + sends.unknown + sends.uncharged,
            tokens_in: spent.tokens.input(),
            tokens_out: spent.tokens.all() - spent.tokens.input(),
        }
    }
}

pub(super) fn round_counts(
    rounds: &[ScoredRound],
    tasks: &FactorTasks,
    rules: &AccuracyRules,
) -> Vec<RoundCounts> {
    let counts = rounds.iter().map(|round| RoundCounts {
        round: round.round,
        counts: counts_json(round, tasks, rules),
    });
    counts.collect()
}

/// The verdicts of each round, of the first sample of each task; one that ended before is carried over.
pub(crate) fn rounds_of(rounds: u32, answers: &[JudgedAnswer]) -> Vec<ScoredRound> {
    let last = rounds;
    let mut rounds: Vec<ScoredRound> = Vec::new();
    for round in 1..=last {
        let before = rounds.last();
        let mut verdicts: BTreeMap<String, Option<FactorVerdict>> =
            before.map(|before| before.verdicts.clone()).unwrap_or_default();
        let mut carried: Vec<String> = verdicts.keys().cloned().collect();
        let events = answers.iter().map(|answer| &answer.event);
        for event in events.filter(|event| event.round == round && event.sample == 1) {
            carried.retain(|id| *id != event.task);
            verdicts.insert(event.task.clone(), event.verdict.clone());
        }
        rounds.push(ScoredRound {
            round,
            verdicts,
            carried,
        });
    }
    rounds
}

pub(super) fn pass_at(
    config: &FactorCodeConfig,
    answers: &[JudgedAnswer],
) -> Result<Vec<PassAtK>, CodeError> {
    let rules = &config.rules();
    // the last round of each sample of each task
    let mut last: BTreeMap<(&str, u64), Option<&FactorVerdict>> = BTreeMap::new();
    for event in answers.iter().map(|answer| &answer.event) {
        last.insert((&event.task, event.sample), event.verdict.as_ref());
    }
    let mut by_task: BTreeMap<&str, Vec<Option<&FactorVerdict>>> = BTreeMap::new();
    for ((task, _), verdict) in last {
        by_task.entry(task).or_default().push(verdict);
    }
    let whole: Vec<Vec<&FactorVerdict>> = by_task
        .into_values()
        .filter_map(|samples| samples.into_iter().collect())
        .collect();
    let mut found = Vec::new();
    for k in &config.pass_at {
        let mut shares = BTreeMap::new();
        for rule in JudgeRule::ALL {
            let mut layers = BTreeMap::new();
            for layer in LayersPassed::FUNNEL {
                let passed = |samples: &Vec<&FactorVerdict>| {
                    let passing = samples
                        .iter()
                        .filter(|verdict| layer <= verdict.passes(rule, rules));
                    u64::try_from(passing.count()).unwrap_or(u64::MAX)
                };
                let counts: Vec<(u64, u64)> = whole
                    .iter()
                    .map(|samples| (config.samples, passed(samples)))
                    .collect();
                layers.insert(layer.name().to_owned(), mean_pass_at_k(&counts, *k)?);
            }
            shares.insert(rule_name(rule).to_owned(), layers);
        }
        found.push(PassAtK {
            k: *k,
            round: config.rounds,
            tasks: whole.len(),
            shares,
        });
    }
    Ok(found)
}
