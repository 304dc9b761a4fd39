//! Answers of one agent to one fixed step that is asked again and again: whether it decides alike, and is still the same.
//!
//! Each answer is a bundle of its own, `canaries/AGENT/NUMBER` beside the cells: a masked step of a fixed synthetic market, so
//! that nothing of the run's data is in it. What is found is kept beside them as `canaries/AGENT.json`.

use crate::event::{ReadEvent, StepOutcome};
use crate::open::read_header;
use crate::{BundlePaths, results_of};
use ktd_io::whole_file::{json_bytes, list_if_exists, read_json, write_whole};
use ktd_record::RecordError;
use ktd_record::chain::LogReader;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folder of all canaries in a results directory; no bundle below it is an episode of a grid.
pub const CANARIES: &str = "canaries";

/// What an agent's answers to its fixed step come to.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanaryRecord {
    /// The agent.
    pub agent: String,
    /// Its vendor: a row of the table of dialects.
    pub vendor: String,
    /// The provider's name of the model.
    pub model: String,
    /// Answers that are compared: those to the same request, under the settings of the last.
    pub answers: usize,
    /// Steps that the infrastructure took away; they are no answers.
    pub lost: usize,
    /// Share of the answers whose orders are those of the most common answer: stock, side and size, in any order.
    pub same_orders: Option<f64>,
    /// The same of every word of the submission: orders with confidence and reasons.
    pub same_words: Option<f64>,
    /// The same of every byte of the replies, which vendors number and date.
    pub same_bytes: Option<f64>,
    /// Names of the models that answered, as the provider told them.
    pub served_models: Vec<String>,
    /// What changed from one answer to a later one, in words; empty where nothing did.
    pub changes: Vec<String>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CanaryAnswer {
    orders: String,
    words: String,
    replies: Vec<String>,
    served: BTreeSet<String>,
}

/// Where the next answer of an agent goes: a new bundle, or the last one where it has not ended.
///
/// # Errors
/// [`RecordError`] when the folder cannot be read.
pub fn next_bundle(results: &Path, agent: &str) -> Result<PathBuf, RecordError> {
    let all = bundles(results, agent)?;
    let open = all.last().filter(|bundle| !bundle.summary().exists());
    let number = |bundle: &BundlePaths| bundle.root().file_name()?.to_str()?.parse().ok();
    // Somebody may have removed one: what stands is not asked again in its place.
    let last: u32 = all.iter().filter_map(number).max().unwrap_or(0);
    Ok(open.map_or_else(
        || folder(results, agent).join(format!("{:05}", last.saturating_add(1))),
        |bundle| bundle.root().to_owned(),
    ))
}

fn folder(results: &Path, agent: &str) -> PathBuf {
    results.join(CANARIES).join(agent)
}

fn record_path(results: &Path, agent: &str) -> PathBuf {
    results.join(CANARIES).join(format!("{agent}.json"))
}

fn bundles(results: &Path, agent: &str) -> Result<Vec<BundlePaths>, RecordError> {
    let paths = list_if_exists(&folder(results, agent))?;
    Ok(paths.iter().map(|path| BundlePaths::new(path)).collect())
}

impl CanaryRecord {
    /// Compares the finished answers of an agent, and keeps what it finds beside them; `None` without any.
    ///
    /// # Errors
    /// [`RecordError`] when a bundle is damaged, or the record cannot be written.
    pub fn make(results: &Path, agent: &str) -> Result<Option<Self>, RecordError> {
        let finished = bundles(results, agent)?;
        let finished: Vec<BundlePaths> = finished
            .into_iter()
            .filter(|bundle| bundle.summary().exists())
            .collect();
        let Some(last) = finished.last() else {
            return Ok(None);
        };
        let last = read_header(last)?;
        let mut answers = Vec::new();
        let mut lost = 0;
        for bundle in &finished {
            let header = read_header(bundle)?;
            let is_same = (
                &header.agent,
                &header.provider,
                &header.prompts_sha256,
                &header.tools_sha256,
            ) == (
                &last.agent,
                &last.provider,
                &last.prompts_sha256,
                &last.tools_sha256,
            );
            if !is_same {
                continue;
            }
            match CanaryAnswer::read(bundle)? {
                Some(answer) => answers.push(answer),
                None => lost += 1,
            }
        }
        let served: BTreeSet<&String> = answers.iter().flat_map(|answer| &answer.served).collect();
        let record = Self {
            agent: agent.to_owned(),
            vendor: last.provider.dialect.id.clone(),
            model: last.agent.model_name().to_owned(),
            answers: answers.len(),
            lost,
            same_orders: most_common(answers.iter().map(|answer| &answer.orders)),
            same_words: most_common(answers.iter().map(|answer| &answer.words)),
            same_bytes: most_common(answers.iter().map(|answer| &answer.replies)),
            served_models: served.into_iter().cloned().collect(),
            changes: changes(&answers),
        };
        let path = record_path(results, agent);
        write_whole(&path, &json_bytes(&path, &record)?)?;
        Ok(Some(record))
    }

    /// The record that was kept of the agent of a cell, whose bundle is in `bundle`; `None` where there is none.
    ///
    /// # Errors
    /// [`RecordError`] for a file that is none.
    pub fn beside(bundle: &Path, agent: &str) -> Result<Option<Self>, RecordError> {
        let path = record_path(&results_of(bundle), agent);
        Ok(path.is_file().then(|| read_json(&path)).transpose()?)
    }

    /// What a reader of results must know.
    #[must_use]
    pub fn note(&self) -> String {
        let changes = if self.changes.is_empty() {
            "nothing changed".to_owned()
        } else {
            self.changes.join("; ")
        };
        let share = self
            .same_orders
            .map_or_else(|| "n/a".to_owned(), |share| format!("{:.0} %", share * 100.0));
        format!(
            "canary step of {}: {} answers, {share} with the most common orders; {changes}",
            self.agent, self.answers
        )
    }
}

impl CanaryAnswer {
    /// The answer in a finished bundle of one step; `None` where the infrastructure took it away.
    fn read(paths: &BundlePaths) -> Result<Option<Self>, RecordError> {
        let path = paths.events();
        let mut answer = Self {
            orders: String::new(),
            words: String::new(),
            replies: Vec::new(),
            served: BTreeSet::new(),
        };
        let mut is_decided = false;
        for event in LogReader::open(&path)?.bodies()? {
            match event {
                ReadEvent::Turn {
                    reply, served_model, ..
                } => {
                    answer.replies.push(reply);
                    answer.served.extend(served_model);
                }
                ReadEvent::Decision {
                    outcome,
                    orders,
                    overall_reason,
                    ..
                } => {
                    is_decided = outcome != StepOutcome::Uncovered;
                    let mut sizes: Vec<_> = orders
                        .iter()
                        .map(|order| {
                            let size = (order.target_weight_millionths, order.shares);
                            (&order.stock_id, &order.side, size)
                        })
                        .collect();
                    sizes.sort();
                    answer.orders = format!("{outcome:?} {sizes:?}");
                    answer.words = format!("{outcome:?} {orders:?} {overall_reason:?}");
                }
                ReadEvent::EpisodeBegin { .. }
                | ReadEvent::StepBegin { .. }
                | ReadEvent::InfrastructureFault { .. }
                | ReadEvent::ToolCall { .. }
                | ReadEvent::ModelFault { .. }
                | ReadEvent::Fills { .. }
                | ReadEvent::StepEnd { .. }
                | ReadEvent::EpisodeEnd { .. } => {}
            }
        }
        Ok(is_decided.then_some(answer))
    }
}

/// Share of values that are the most common one; none of nothing.
fn most_common<T: Ord>(values: impl Iterator<Item = T>) -> Option<f64> {
    let mut counts: BTreeMap<T, u32> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let most = *counts.values().max()?;
    Some(f64::from(most) / f64::from(counts.values().sum::<u32>()))
}

/// Another model that answers, and orders of which none from before occurs after a point.
///
/// Of the second only answers that repeat themselves can tell: where every answer is another one, none occurs again anyway.
fn changes(answers: &[CanaryAnswer]) -> Vec<String> {
    let mut found = Vec::new();
    let names = |answer: &CanaryAnswer| answer.served.iter().cloned().collect::<Vec<_>>().join(", ");
    for (place, pair) in answers.windows(2).enumerate() {
        if let [before, after] = pair
            && before.served != after.served
        {
            let (old, new, at) = (names(before), names(after), place + 2);
            found.push(format!(
                "the served model changed from {old} to {new} at answer {at}"
            ));
        }
    }
    let distinct = |answers: &[CanaryAnswer]| -> BTreeSet<String> {
        answers.iter().map(|answer| answer.orders.clone()).collect()
    };
    let splits = (2..answers.len().saturating_sub(1)).find(|at| {
        let (before, after) = answers.split_at(*at);
        let (old, new) = (distinct(before), distinct(after));
        old.is_disjoint(&new) && old.len() < before.len() && new.len() < after.len()
    });
    found.extend(splits.map(|at| {
        format!(
            "its orders changed: none of those before answer {} occurs from there on",
            at + 1
        )
    }));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(orders: &str, served: &str) -> Vec<CanaryAnswer> {
        let each = orders.chars().zip(served.chars());
        each.map(|(orders, served)| CanaryAnswer {
            orders: orders.to_string(),
            words: String::new(),
            replies: Vec::new(),
            served: [served.to_string()].into(),
        })
        .collect()
    }

    #[test]
    fn a_changed_model_and_changed_orders_are_told() {
        assert_eq!(changes(&answers("aabaab", "xxxxxx")), Vec::<String>::new());
        assert_eq!(
            changes(&answers("aaab", "xxyy")),
            ["the served model changed from x to y at answer 3"]
        );
        assert_eq!(
            changes(&answers("abacc", "xxxxx")),
            ["its orders changed: none of those before answer 4 occurs from there on"]
        );
    }

    #[test]
    fn the_next_answer_has_a_place_of_its_own_when_an_earlier_one_was_removed() {
        let results = tempfile::tempdir().unwrap();
        let finished = |number: &str| {
            let bundle = folder(results.path(), "a").join(number);
            std::fs::create_dir_all(&bundle).unwrap();
            std::fs::write(BundlePaths::new(&bundle).summary(), "{}").unwrap();
        };
        let next = || next_bundle(results.path(), "a").unwrap();
        assert!(next().ends_with("00001"));
        finished("00002");
        finished("00003");
        assert!(next().ends_with("00004"), "{}", next().display());
        std::fs::create_dir_all(next()).unwrap();
        assert!(next().ends_with("00004"), "it has not ended");
    }

    #[test]
    fn answers_that_never_repeat_tell_of_no_change() {
        assert_eq!(changes(&answers("abcdef", "xxxxxx")), Vec::<String>::new());
        assert_eq!(most_common("aab".chars()), Some(2.0 / 3.0));
        assert_eq!(most_common("".chars()), None);
    }
}
