//! All replies of a file, judged round by round.

use crate::boxed_reply::judge_reply;
use crate::error::CodeError;
use ktd_boxed::BoxLauncher;
use ktd_factor_code::{
    AccuracyRules, FactorPanels, FactorReplies, FactorTask, FactorTasks, FactorVerdict, JudgedTask,
};
use std::collections::BTreeMap;

/// The verdicts of a round: of each task, and whether it is that of an earlier round.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredRound {
    /// The round, from 1.
    pub round: u32,
    /// Verdicts by the names of tasks; none where the box failed.
    pub verdicts: BTreeMap<String, Option<FactorVerdict>>,
    /// Tasks that passed before and were not asked again.
    pub carried: Vec<String>,
}

impl ScoredRound {
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

/// Runs the functions of all replies, as many side by side as there may be boxes; one that a task was answered with before is
/// not run again.
///
/// # Errors
/// [`CodeError`] where no box can be had.
pub fn score_replies(
    launcher: &BoxLauncher,
    tasks: &FactorTasks,
    panels: &FactorPanels,
    replies: &FactorReplies,
    rules: &AccuracyRules,
) -> Result<Vec<ScoredRound>, CodeError> {
    let mut rounds: Vec<ScoredRound> = Vec::new();
    // the same function again, as of a model that does not learn, has the verdict that it had
    let mut known: BTreeMap<(&str, &str), FactorVerdict> = BTreeMap::new();
    for round in 1..=replies.rounds() {
        let before = rounds
            .last()
            .map(|before| before.verdicts.clone())
            .unwrap_or_default();
        let asked: Vec<(&FactorTask, &str)> = tasks
            .as_slice()
            .iter()
            .filter_map(|task| Some((task, replies.get(task.id.as_str(), round)?)))
            .collect();
        let mut new = asked.clone();
        new.retain(|(task, reply)| !known.contains_key(&(task.id.as_str(), *reply)));
        let judged = launcher.each(&new, |launcher, (task, reply)| {
            judge_reply(launcher, task, panels, reply, rules)
        });
        for ((task, reply), verdict) in new.iter().zip(judged) {
            if let Some(judged) = verdict? {
                known.insert((task.id.as_str(), reply), judged.verdict);
            }
        }
        let mut verdicts = before;
        let carried = verdicts
            .keys()
            .filter(|id| replies.get(id, round).is_none())
            .cloned()
            .collect();
        for (task, reply) in asked {
            let verdict = known.get(&(task.id.as_str(), reply)).cloned();
            verdicts.insert(task.id.to_string(), verdict);
        }
        rounds.push(ScoredRound {
            round,
            verdicts,
            carried,
        });
    }
    Ok(rounds)
}
