//! All replies of a file, judged round by round.

use crate::boxed_reply::{FactorJudgedBy, judge_reply};
use crate::error::CodeError;
use ktd_boxed::BoxLauncher;
use ktd_factor_code::{FactorReplies, FactorTask, FactorTasks, FactorVerdict, ScoredRound};
use std::collections::BTreeMap;

/// Runs the functions of all replies, as many side by side as there may be boxes; one that a task was answered with before is
/// not run again.
///
/// # Errors
/// [`CodeError`] where no box can be had.
pub fn score_replies(
    launcher: &BoxLauncher,
    tasks: &FactorTasks,
    by: &FactorJudgedBy<'_>,
    replies: &FactorReplies,
) -> Result<Vec<ScoredRound>, CodeError> {
    let mut rounds: Vec<ScoredRound> = Vec::new();
    // the same function again, as of a model that does not learn, has the verdict that it had
    let mut known: BTreeMap<(&str, &str), FactorVerdict> = BTreeMap::new();
    for round in 1..=replies.rounds() {
        let asked: Vec<(&FactorTask, &str)> = tasks
            .as_slice()
            .iter()
            .filter_map(|task| Some((task, replies.get(task.id.as_str(), round)?)))
            .collect();
        let mut new = asked.clone();
        new.retain(|(task, reply)| !known.contains_key(&(task.id.as_str(), *reply)));
        let judged = launcher.each(&new, |launcher, (task, reply)| {
            judge_reply(launcher, task, by, reply)
        });
        for ((task, reply), verdict) in new.iter().zip(judged) {
            if let Some(judged) = verdict? {
                known.insert((task.id.as_str(), reply), judged.verdict);
            }
        }
        let answered = asked.into_iter().map(|(task, reply)| {
            let verdict = known.get(&(task.id.as_str(), reply)).cloned();
            (task.id.to_string(), verdict)
        });
        rounds.push(ScoredRound::after(rounds.last(), answered));
    }
    Ok(rounds)
}
