//! Counts that follow from the answers of a unit.

use super::config::FactorCodeConfig;
use super::found::{JudgedAnswer, RoundCounts};
use crate::error::CodeError;
use ktd_factor_code::{AccuracyRules, FactorTasks, FactorVerdict, FunnelCounts, PassAtK, ScoredRound};
use std::collections::{BTreeMap, BTreeSet};

/// The round whose answers nobody helped with: what a model is worth, its rank and Pass@k are of it.
pub(crate) const FIRST_ROUND: u32 = 1;

/// The counts of each round, of all samples of each task.
pub(super) fn round_counts(
    rounds: &[Vec<ScoredRound>],
    tasks: &FactorTasks,
    rules: &AccuracyRules,
) -> Vec<RoundCounts> {
    let counts = rounds.iter().zip(1..).map(|(samples, round)| {
        let judged: Vec<_> = samples.iter().flat_map(|sample| sample.judged(tasks)).collect();
        RoundCounts {
            round,
            counts: FunnelCounts::by_group(&judged, rules),
        }
    });
    counts.collect()
}

/// The verdicts of each round, sample by sample; an answer that ended its task before is carried over.
pub(crate) fn rounds_of((last, samples): (u32, u64), answers: &[JudgedAnswer]) -> Vec<Vec<ScoredRound>> {
    let mut rounds: Vec<Vec<ScoredRound>> = Vec::new();
    for round in 1..=last {
        let of_sample = |(place, sample): (usize, u64)| {
            let events = answers.iter().map(|answer| &answer.event);
            let answered = events
                .filter(|event| event.round == round && event.sample == sample)
                .map(|event| (event.task.clone(), event.verdict.clone()));
            let before = rounds.last().and_then(|samples| samples.get(place));
            ScoredRound::after(before, answered)
        };
        let samples = (0..).zip(1..=samples).map(of_sample).collect();
        rounds.push(samples);
    }
    rounds
}

/// Tasks of which an answer was lost, after the last round.
pub(super) fn uncovered(rounds: &[Vec<ScoredRound>]) -> usize {
    let samples = rounds.last().into_iter().flatten();
    let verdicts = samples.flat_map(|sample| &sample.verdicts);
    let lost = verdicts.filter(|(_, verdict)| verdict.is_none());
    lost.map(|(task, _)| task).collect::<BTreeSet<_>>().len()
}

/// Pass@k of the first answers of all samples.
pub(super) fn pass_at(
    config: &FactorCodeConfig,
    answers: &[JudgedAnswer],
) -> Result<Vec<PassAtK>, CodeError> {
    let mut tasks: BTreeMap<&str, Vec<Option<&FactorVerdict>>> = BTreeMap::new();
    let events = answers.iter().map(|answer| &answer.event);
    for event in events.filter(|event| event.round == FIRST_ROUND) {
        tasks.entry(&event.task).or_default().push(event.verdict.as_ref());
    }
    let tasks: Vec<Vec<_>> = tasks.into_values().collect();
    let found = config
        .pass_at
        .iter()
        .map(|k| PassAtK::of((*k, FIRST_ROUND), &tasks, &config.rules()));
    Ok(found.collect::<Result<_, _>>()?)
}
