//! `summary.json`: counts that follow from the events.

use super::event::FactorCodeEvent;
use super::header::FactorCodeHeader;
use crate::error::CodeError;
use crate::scored::ScoredRound;
use crate::tables::{counts_json, rule_name};
use ktd_factor_code::{AccuracyRules, FactorTasks, FactorVerdict, JudgeRule, LayersPassed, mean_pass_at_k};
use ktd_io::sha256::sha256_hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The counts of a round, by level and over all tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundCounts {
    /// The round, from 1.
    pub round: u32,
    /// Groups of tasks with how many of them pass each layer.
    pub counts: BTreeMap<String, Value>,
}

/// The chance that one of k samples passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// What the events of a bundle come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorCodeSummary {
    /// The version of the layout.
    pub format: u32,
    /// The name of the bundle.
    pub cell: String,
    /// SHA-256 of `events.jsonl`.
    pub events_sha256: String,
    /// Its tasks.
    pub tasks: usize,
    /// Of them, those that were lost to the infrastructure.
    pub uncovered: usize,
    /// Round by round, of the first sample of each task.
    pub rounds: Vec<RoundCounts>,
    /// Of all samples.
    pub pass_at: Vec<PassAtK>,
}

impl FactorCodeSummary {
    pub(super) fn of(
        header: &FactorCodeHeader,
        tasks: &FactorTasks,
        events: &[FactorCodeEvent],
        event_bytes: &[u8],
    ) -> Result<Self, CodeError> {
        let rules = header.rules();
        let rounds = rounds_of(header, events);
        let last = rounds.last();
        let uncovered = last.map_or(0, |round| {
            round
                .verdicts
                .values()
                .filter(|verdict| verdict.is_none())
                .count()
        });
        Ok(Self {
            format: super::header::FORMAT,
            cell: header.cell.clone(),
            events_sha256: sha256_hex(event_bytes),
            tasks: tasks.as_slice().len(),
            uncovered,
            rounds: rounds
                .iter()
                .map(|round| RoundCounts {
                    round: round.round,
                    counts: counts_json(round, tasks, &rules),
                })
                .collect(),
            pass_at: pass_at(header, events, &rules)?,
        })
    }
}

/// The verdicts of each round, of the first sample of each task; one that ended before is carried over.
pub(crate) fn rounds_of(header: &FactorCodeHeader, events: &[FactorCodeEvent]) -> Vec<ScoredRound> {
    let mut rounds: Vec<ScoredRound> = Vec::new();
    for round in 1..=header.rounds {
        let before = rounds.last();
        let mut verdicts: BTreeMap<String, Option<FactorVerdict>> =
            before.map(|before| before.verdicts.clone()).unwrap_or_default();
        let mut carried: Vec<String> = verdicts.keys().cloned().collect();
        for event in events
            .iter()
            .filter(|event| event.round == round && event.sample == 1)
        {
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

fn pass_at(
    header: &FactorCodeHeader,
    events: &[FactorCodeEvent],
    rules: &AccuracyRules,
) -> Result<Vec<PassAtK>, CodeError> {
    // the last round of each sample of each task
    let mut last: BTreeMap<(&str, u64), Option<&FactorVerdict>> = BTreeMap::new();
    for event in events {
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
    for k in &header.pass_at {
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
                    .map(|samples| (header.samples, passed(samples)))
                    .collect();
                layers.insert(layer.name().to_owned(), mean_pass_at_k(&counts, *k)?);
            }
            shares.insert(rule_name(rule).to_owned(), layers);
        }
        found.push(PassAtK {
            k: *k,
            round: header.rounds,
            tasks: whole.len(),
            shares,
        });
    }
    Ok(found)
}
