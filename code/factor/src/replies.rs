//! Replies of a model in a file, one JSON object a line: a run can be judged again without asking anybody.

use crate::error::FactorCodeError;
use crate::task::FactorTasks;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The most rounds of one task.
pub const MOST_ROUNDS: u32 = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyLine {
    id: String,
    round: u32,
    reply: String,
}

/// Replies by task and round; a task's rounds follow one another from the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorReplies(BTreeMap<(String, u32), String>);

impl FactorReplies {
    /// Reads `{"id": .., "round": .., "reply": ..}` a line.
    ///
    /// # Errors
    /// [`FactorCodeError::ReplyLine`] with the line of what is no reply, names an unknown task, repeats a task and round,
    /// or comes without the round before it.
    pub fn parse(text: &str, tasks: &FactorTasks) -> Result<Self, FactorCodeError> {
        let mut replies: BTreeMap<(String, u32), (usize, String)> = BTreeMap::new();
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        for (text, line) in lines {
            let invalid = |problem: String| FactorCodeError::ReplyLine { line, problem };
            let read: ReplyLine = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
            if tasks.find(&read.id).is_none() {
                return Err(invalid(format!("the task {:?} is unknown", read.id)));
            }
            if !(1..=MOST_ROUNDS).contains(&read.round) {
                return Err(invalid(format!(
                    "round {} is not within 1 to {MOST_ROUNDS}",
                    read.round
                )));
            }
            let key = (read.id, read.round);
            if replies.contains_key(&key) {
                return Err(invalid(format!(
                    "round {} of {} stands there already; remove one",
                    key.1, key.0
                )));
            }
            replies.insert(key, (line, read.reply));
        }
        let alone = replies.iter().find(|((id, round), _)| {
            let before = (id.clone(), round - 1);
            1 < *round && !replies.contains_key(&before)
        });
        if let Some(((id, round), (line, _))) = alone {
            return Err(FactorCodeError::ReplyLine {
                line: *line,
                problem: format!("round {round} of {id} has no round {} before it", round - 1),
            });
        }
        let replies = replies.into_iter().map(|(key, (_, reply))| (key, reply));
        Ok(Self(replies.collect()))
    }

    /// The reply of a task in a round.
    #[must_use]
    pub fn get(&self, id: &str, round: u32) -> Option<&str> {
        self.0.get(&(id.to_owned(), round)).map(String::as_str)
    }

    /// The last round that has a reply.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.0.keys().map(|(_, round)| *round).max().unwrap_or(0)
    }

    /// How many replies there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let tasks = FactorTasks::compiled_in().unwrap();
        FactorReplies::parse(text, &tasks).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_reply_is_refused_with_its_line() {
        let line = |id: &str, round: u32| format!("{{\"id\":\"{id}\",\"round\":{round},\"reply\":\"\"}}\n");
        assert!(problem("{}").contains("line 1"));
        assert!(problem(&line("MOM-9-99", 1)).contains("unknown"));
        assert!(problem(&line("MOM-1-01", 0)).contains("round 0"));
        assert!(problem(&line("MOM-1-01", 11)).contains("round 11"));
        let doubled = line("MOM-1-01", 1).repeat(2);
        assert!(problem(&doubled).contains("line 2") && problem(&doubled).contains("already"));
        let skipped = line("MOM-1-01", 1) + &line("MOM-1-01", 3);
        assert!(problem(&skipped).contains("line 2") && problem(&skipped).contains("no round 2"));
        let tasks = FactorTasks::compiled_in().unwrap();
        let replies = FactorReplies::parse(&(line("MOM-1-01", 1) + &line("MOM-1-01", 2)), &tasks).unwrap();
        assert_eq!(
            (replies.len(), replies.rounds(), replies.get("MOM-1-01", 2)),
            (2, 2, Some(""))
        );
    }
}
