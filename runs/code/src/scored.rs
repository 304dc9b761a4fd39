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
            Some(JudgedTask {
                task,
                verdict: verdict.as_ref(),
            })
        });
        of_round.collect()
    }
}

/// Runs the functions of all replies, as many side by side as there may be boxes.
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
        let judged = launcher.each(&asked, |launcher, (task, reply)| {
            judge_reply(launcher, task, panels, reply, rules)
        });
        let mut verdicts = before;
        let carried = verdicts
            .keys()
            .filter(|id| replies.get(id, round).is_none())
            .cloned()
            .collect();
        for ((task, _), verdict) in asked.iter().zip(judged) {
            verdicts.insert(task.id.to_string(), verdict?.map(|judged| judged.verdict));
        }
        rounds.push(ScoredRound {
            round,
            verdicts,
            carried,
        });
    }
    Ok(rounds)
}
