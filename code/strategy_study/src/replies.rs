//! Replies of models in a file: a run can be judged again without asking anybody.

use crate::error::StrategyError;
use crate::judge::BoxedJudge;
use crate::task::StrategyTask;
use ktd_boxed::BoxLauncher;
use ktd_strategy_code::{
    DocumentId, DriftRule, GateSecret, ITERATIONS_MAX, StrategyContract, SubmissionRows, SubmissionVersion,
    VersionChain,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One line; members that it has besides are not read.
#[derive(Deserialize)]
struct ReplyLine {
    model: String,
    strategy: String,
    iteration: usize,
    reply: String,
}

/// Replies by model and document; iterations follow one another from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrategyReplies(BTreeMap<(String, DocumentId), Vec<String>>);

/// The iterations of one model on one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredStrategy {
    /// Its iterations as rows; the seed is 0.
    #[serde(flatten)]
    pub rows: SubmissionRows,
    /// Its iterations whole.
    pub judged: Vec<SubmissionVersion>,
}

impl StrategyReplies {
    /// Reads `{"model": .., "strategy": .., "iteration": .., "reply": ..}` a line.
    ///
    /// # Errors
    /// [`StrategyError::Input`] with the line of what is no reply, names an unknown document, or comes before its turn.
    pub fn parse(text: &str) -> Result<Self, StrategyError> {
        let mut replies: BTreeMap<(String, DocumentId), Vec<String>> = BTreeMap::new();
        for (line, number) in text
            .lines()
            .zip(1_usize..)
            .filter(|(line, _)| !line.trim().is_empty())
        {
            let invalid = |problem: String| {
                StrategyError::input(
                    format_args!("line {number}: {problem}"),
                    "write {\"model\": .., \"strategy\": \"S01\", \"iteration\": 0, \"reply\": ..} a line",
                )
            };
            let read: ReplyLine = serde_json::from_str(line).map_err(|error| invalid(error.to_string()))?;
            let id = DocumentId::parse(&read.strategy)
                .ok_or_else(|| invalid(format!("the strategy {:?} is unknown", read.strategy)))?;
            if read.iteration > ITERATIONS_MAX {
                return Err(invalid(format!(
                    "iteration {} is above {ITERATIONS_MAX}",
                    read.iteration
                )));
            }
            let own = replies.entry((read.model, id)).or_default();
            if read.iteration != own.len() {
                return Err(invalid(format!(
                    "iteration {} of {id} stands where {} must",
                    read.iteration,
                    own.len()
                )));
            }
            own.push(read.reply);
        }
        Ok(Self(replies))
    }

    /// The documents that they are about, on bars drawn from a seed, which programs are handed by this contract.
    ///
    /// # Errors
    /// [`StrategyError::Scenario`] where no draw does what a scenario is there for.
    pub fn tasks(&self, seed: u64, contract: StrategyContract) -> Result<Vec<StrategyTask>, StrategyError> {
        let ids: BTreeSet<DocumentId> = self.0.keys().map(|(_, id)| *id).collect();
        let task = |id| Ok(StrategyTask::drawn(id, seed)?.with_contract(contract));
        ids.into_iter().map(task).collect()
    }

    /// Judges all replies about these documents, as many submissions side by side as there may be boxes.
    ///
    /// # Errors
    /// [`StrategyError`] where no box can be had.
    pub fn score(
        &self,
        launcher: &BoxLauncher,
        (tasks, secret): (&[StrategyTask], &GateSecret),
        rule: DriftRule,
    ) -> Result<Vec<ScoredStrategy>, StrategyError> {
        let cells = self.0.iter().filter_map(|((model, id), replies)| {
            let task = tasks.iter().find(|task| task.id == *id)?;
            Some((model, task, replies))
        });
        let cells: Vec<(&String, &StrategyTask, &Vec<String>)> = cells.collect();
        let scored = launcher.each(&cells, |launcher, (model, task, replies)| {
            let mut chain = VersionChain::new(rule);
            for reply in *replies {
                chain.add_reply(
                    &BoxedJudge {
                        launcher,
                        task,
                        secret,
                    },
                    reply,
                )?;
            }
            let strategy = (task.id.label(), &task.document, true);
            Ok(ScoredStrategy {
                rows: SubmissionRows::of((model, 0), &chain, strategy, task.contract),
                judged: chain.versions,
            })
        });
        scored.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_follow_one_another() {
        let line = |strategy: &str, iteration: usize| {
            format!(
                "{{\"model\":\"m\",\"strategy\":\"{strategy}\",\"iteration\":{iteration},\"reply\":\"x\"}}\n"
            )
        };
        let error = |text: &str| StrategyReplies::parse(text).unwrap_err().to_string();
        let whole = [line("S01", 0), line("S02", 0), line("S01", 1)].concat();
        assert_eq!(StrategyReplies::parse(&whole).unwrap().0.len(), 2);
        assert_eq!(
            error(&line("S01", 1)),
            "line 1: iteration 1 of S01 stands where 0 must"
        );
        assert_eq!(error(&line("S13", 0)), "line 1: the strategy \"S13\" is unknown");
        assert_eq!(error(&line("S01", 4)), "line 1: iteration 4 is above 3");
        assert!(error("{\"model\": \"m\"}").starts_with("line 1: missing field `strategy`"));
    }
}
