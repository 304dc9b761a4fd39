//! Verdicts round by round.

use crate::accuracy::AccuracyRules;
use crate::funnel::{FunnelCounts, JudgedTask};
use crate::task::FactorTasks;
use crate::verdict::{FactorVerdict, VerdictDocument};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The verdicts of a round: of each task, and whether it is that of an earlier round.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredRound {
    /// The round, from 1.
    pub round: u32,
    /// Verdicts by the names of tasks; none where the task was lost.
    pub verdicts: BTreeMap<String, Option<FactorVerdict>>,
    /// Tasks that ended before and were not asked again.
    pub carried: Vec<String>,
}

impl ScoredRound {
    /// The round after another one, or the first: what was not answered in it is carried over.
    #[must_use]
    pub fn after(
        before: Option<&Self>,
        answered: impl IntoIterator<Item = (String, Option<FactorVerdict>)>,
    ) -> Self {
        let mut verdicts = before.map_or_else(BTreeMap::new, |before| before.verdicts.clone());
        let mut carried: Vec<String> = verdicts.keys().cloned().collect();
        for (task, verdict) in answered {
            carried.retain(|other| *other != task);
            verdicts.insert(task, verdict);
        }
        Self {
            round: before.map_or(1, |before| before.round + 1),
            verdicts,
            carried,
        }
    }

    /// The round's tasks with their verdicts, in the order of the tasks.
    #[must_use]
    pub fn judged<'a>(&'a self, tasks: &'a FactorTasks) -> Vec<JudgedTask<'a>> {
        let of_round = tasks.as_slice().iter().filter_map(|task| {
            let verdict = self.verdicts.get(task.id.as_str())?;
            Some(JudgedTask::of(task, verdict.as_ref()))
        });
        of_round.collect()
    }
}

/// The verdicts of all rounds, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ScoredReplies<'r> {
    rounds: Vec<ScoredRoundDocument<'r>>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct ScoredRoundDocument<'r> {
    round: u32,
    counts: BTreeMap<String, FunnelCounts>,
    verdicts: Vec<ScoredTask<'r>>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct ScoredTask<'r> {
    id: &'r str,
    carried: bool,
    verdict: Option<VerdictDocument<'r>>,
}

impl<'r> ScoredReplies<'r> {
    /// The document of rounds.
    #[must_use]
    pub fn of(rounds: &'r [ScoredRound], tasks: &'r FactorTasks, rules: &AccuracyRules) -> Self {
        let of_round = |round: &'r ScoredRound| {
            let judged = round.judged(tasks);
            ScoredRoundDocument {
                round: round.round,
                counts: FunnelCounts::by_group(&judged, rules),
                verdicts: judged
                    .into_iter()
                    .map(|judged| ScoredTask {
                        id: judged.id,
                        carried: round.carried.iter().any(|id| id == judged.id),
                        verdict: judged.verdict.map(|verdict| VerdictDocument::of(verdict, rules)),
                    })
                    .collect(),
            }
        };
        Self {
            rounds: rounds.iter().map(of_round).collect(),
        }
    }
}
