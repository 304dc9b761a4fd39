//! Counts that follow from the answers of a unit.

use super::config::FactorCodeConfig;
use super::found::{JudgedAnswer, RoundCounts};
use crate::error::CodeError;
use ktd_factor_code::{AccuracyRules, FactorTasks, FactorVerdict, FunnelCounts, PassAtK, ScoredRound};
use std::collections::BTreeMap;

pub(super) fn round_counts(
    rounds: &[ScoredRound],
    tasks: &FactorTasks,
    rules: &AccuracyRules,
) -> Vec<RoundCounts> {
    let counts = rounds.iter().map(|round| RoundCounts {
        round: round.round,
        counts: FunnelCounts::by_group(&round.judged(tasks), rules),
    });
    counts.collect()
}

/// The verdicts of each round, of the first sample of each task; one that ended before is carried over.
pub(crate) fn rounds_of(last: u32, answers: &[JudgedAnswer]) -> Vec<ScoredRound> {
    let mut rounds: Vec<ScoredRound> = Vec::new();
    for round in 1..=last {
        let events = answers.iter().map(|answer| &answer.event);
        let answered = events
            .filter(|event| event.round == round && event.sample == 1)
            .map(|event| (event.task.clone(), event.verdict.clone()));
        rounds.push(ScoredRound::after(rounds.last(), answered));
    }
    rounds
}

pub(super) fn pass_at(
    config: &FactorCodeConfig,
    answers: &[JudgedAnswer],
) -> Result<Vec<PassAtK>, CodeError> {
    // the last round of each sample of each task
    let mut last: BTreeMap<&str, BTreeMap<u64, Option<&FactorVerdict>>> = BTreeMap::new();
    for event in answers.iter().map(|answer| &answer.event) {
        let samples = last.entry(&event.task).or_default();
        samples.insert(event.sample, event.verdict.as_ref());
    }
    let tasks: Vec<Vec<_>> = last
        .into_values()
        .map(|samples| samples.into_values().collect())
        .collect();
    let found = config
        .pass_at
        .iter()
        .map(|k| PassAtK::of((*k, config.rounds), &tasks, &config.rules()));
    Ok(found.collect::<Result<_, _>>()?)
}
