//! Replies of models in a file: a run can be judged again without asking anybody.

use crate::error::StrategyError;
use crate::judge::BoxedJudge;
use crate::own_lint::refuse_findings;
use crate::strategy_source::StrategySource;
use crate::task::StrategyTask;
use ktd_boxed::BoxLauncher;
use ktd_strategy_code::{
    DocumentId, DriftRule, GateSecret, ITERATIONS_MAX, StrategyContract, StrategyId, SubmissionRows,
    SubmissionVersion, VersionChain,
};
use schemars::JsonSchema;
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

/// Replies by model and strategy; iterations follow one another from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyReplies {
    by_strategy: BTreeMap<(String, StrategyId), Vec<String>>,
    /// Strategies of one's own that they may be about.
    own: Vec<StrategySource>,
}

/// The iterations of one model on one document.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct ScoredStrategy {
    /// Its iterations as rows; the seed is 0.
    #[serde(flatten)]
    pub rows: SubmissionRows,
    /// Its iterations whole.
    pub judged: Vec<SubmissionVersion>,
}

impl StrategyReplies {
    /// Reads `{"model": .., "strategy": .., "iteration": .., "reply": ..}` a line. A strategy is a document of the benchmark, or the
    /// identifier of one of these.
    ///
    /// # Errors
    /// [`StrategyError::Input`] with the line of what is no reply, names an unknown strategy, or comes before its turn; for two
    /// strategies of one identifier.
    pub fn parse(text: &str, own: Vec<StrategySource>) -> Result<Self, StrategyError> {
        refuse_repeated(&own)?;
        let known = |word: &str| {
            let named = own.iter().map(StrategySource::id).find(|id| id.label() == word);
            DocumentId::parse(word).map(StrategyId::from).or(named)
        };
        let mut replies: BTreeMap<(String, StrategyId), Vec<String>> = BTreeMap::new();
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
            let id = known(&read.strategy).ok_or_else(|| {
                StrategyError::input(
                    format_args!("line {number}: the strategy {:?} is unknown", read.strategy),
                    "write S01 to S12, or the `strategy_id` of a folder that is named with --strategy",
                )
            })?;
            if read.iteration > ITERATIONS_MAX {
                return Err(invalid(format!(
                    "iteration {} is above {ITERATIONS_MAX}",
                    read.iteration
                )));
            }
            let own = replies.entry((read.model, id.clone())).or_default();
            if read.iteration != own.len() {
                return Err(invalid(format!(
                    "iteration {} of {id} stands where {} must",
                    read.iteration,
                    own.len()
                )));
            }
            own.push(read.reply);
        }
        Ok(Self {
            by_strategy: replies,
            own,
        })
    }

    /// The strategies that they are about, on bars drawn from a seed, which programs are handed by this contract.
    ///
    /// # Errors
    /// [`StrategyError`] where no draw does what a scenario is there for, and for a reference program that is no text.
    pub fn tasks(&self, seed: u64, contract: StrategyContract) -> Result<Vec<StrategyTask>, StrategyError> {
        let ids: BTreeSet<&StrategyId> = self.by_strategy.keys().map(|(_, id)| id).collect();
        let task = |id: &StrategyId| {
            let own = self.own.iter().find(|source| source.id() == *id).cloned();
            let source = id.document().map(StrategySource::BuiltIn).or(own);
            let source = source.ok_or_else(|| StrategyError::invalid(format!("{id} is no strategy")))?;
            Ok(source.task(seed)?.with_contract(contract))
        };
        ids.into_iter().map(task).collect()
    }

    /// Judges all replies about these strategies, as many submissions side by side as there may be boxes. Those of one's own are
    /// linted first, as a run does before anybody is asked.
    ///
    /// # Errors
    /// [`StrategyError`] where no box can be had, for a strategy of one's own whose lint has findings, and where its reference
    /// fails with the values of a card.
    pub fn score(
        &self,
        launcher: &BoxLauncher,
        (tasks, secret): (&[StrategyTask], &GateSecret),
        rule: DriftRule,
    ) -> Result<Vec<ScoredStrategy>, StrategyError> {
        for source in &self.own {
            if let Some((own, task)) = source.own().zip(tasks.iter().find(|task| task.id == source.id())) {
                refuse_findings(own, launcher, task, "nothing was judged")?;
            }
        }
        let cells = self.by_strategy.iter().filter_map(|((model, id), replies)| {
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
            let strategy = (task.id.label(), &task.document, task.has_reference());
            Ok(ScoredStrategy {
                rows: SubmissionRows::of((model, 0), &chain, strategy, task.contract),
                judged: chain.versions,
            })
        });
        scored.into_iter().collect()
    }
}

/// Refuses two strategies of one identifier.
fn refuse_repeated(own: &[StrategySource]) -> Result<(), StrategyError> {
    let mut known = BTreeSet::new();
    match own
        .iter()
        .map(StrategySource::id)
        .find(|id| !known.insert(id.clone()))
    {
        None => Ok(()),
        Some(twice) => Err(StrategyError::input(
            format_args!("two folders are strategies of the identifier {twice}"),
            "give each a `strategy_id` of its own in its spec.json",
        )),
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
        let parse = |text: &str| StrategyReplies::parse(text, Vec::new());
        let error = |text: &str| parse(text).unwrap_err().to_string();
        let whole = [line("S01", 0), line("S02", 0), line("S01", 1)].concat();
        assert_eq!(parse(&whole).unwrap().by_strategy.len(), 2);
        assert_eq!(
            error(&line("S01", 1)),
            "line 1: iteration 1 of S01 stands where 0 must"
        );
        assert_eq!(error(&line("S13", 0)), "line 1: the strategy \"S13\" is unknown");
        assert_eq!(error(&line("S01", 4)), "line 1: iteration 4 is above 3");
        assert!(error("{\"model\": \"m\"}").starts_with("line 1: missing field `strategy`"));
    }
}
