//! Verdicts of a submission that is not finished: a run that was killed takes them up, and no box works twice.

use crate::bars::RealVersion;
use crate::error::StrategyError;
use crate::versions::SubmissionVersion;
use ktd_asking::{AskingError, LineJournal};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, remove_if_exists};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name that stands for a number with a fraction, whose value is its bits.
const BITS: &str = "f64 bits";

/// What was judged of one answer.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verdict {
    pub(super) version: SubmissionVersion,
    /// What it earned, where there are real bars.
    pub(super) real: Option<RealVersion>,
}

/// The verdicts so far, each under a hash of all answers up to its own: the same answer after others is another version.
#[derive(Debug)]
pub(super) struct KeptVerdicts {
    known: BTreeMap<String, Value>,
    journal: LineJournal,
    answers: String,
}

#[derive(Deserialize, Serialize)]
struct VerdictLine {
    answers: String,
    verdict: Value,
}

/// The file of verdicts. It is no part of a record: it is gone once the submission is finished.
fn path_of(folder: &Path) -> PathBuf {
    folder.join("private").join("verdicts.jsonl")
}

impl KeptVerdicts {
    /// The verdicts that an earlier run has left in a submission's folder; those of another `judge` are none.
    pub(super) fn open(folder: &Path, judge: &[u8]) -> Result<Self, StrategyError> {
        let path = path_of(folder);
        if let Some(parent) = path.parent() {
            create_directory(parent)?;
        }
        let (journal, lines) = LineJournal::open::<VerdictLine>(&path)?;
        Ok(Self {
            known: lines
                .into_iter()
                .map(|line| (line.answers, line.verdict))
                .collect(),
            journal,
            answers: sha256_hex(judge),
        })
    }

    /// The verdict on the next answer, where an earlier run left one. One that cannot be read is none, and so is one of another
    /// iteration.
    pub(super) fn next(&mut self, iteration: usize, answer: &str) -> Option<Verdict> {
        let answer = sha256_hex(answer.as_bytes());
        self.answers = sha256_hex(format!("{}\0{answer}", self.answers).as_bytes());
        let found = self.known.get(&self.answers)?;
        let verdict: Verdict = serde_json::from_value(with_fractions(found)).ok()?;
        (verdict.version.iteration == iteration).then_some(verdict)
    }

    /// Keeps the verdict on that answer.
    pub(super) fn keep(&mut self, verdict: &Verdict) -> Result<(), StrategyError> {
        let value = serde_json::to_value(verdict).map_err(AskingError::invalid)?;
        let line = VerdictLine {
            answers: self.answers.clone(),
            verdict: with_bits(&value),
        };
        Ok(self.journal.add(&line)?)
    }

    /// Removes the file of verdicts: what is finished is a record.
    pub(super) fn remove(folder: &Path) -> Result<(), StrategyError> {
        Ok(remove_if_exists(&path_of(folder))?)
    }
}

/// Numbers with a fraction as their bits: read as decimals, some would come back in another last digit.
fn with_bits(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => number
            .as_f64()
            .map_or(Value::Null, |number| json!({BITS: number.to_bits()})),
        Value::Array(items) => items.iter().map(with_bits).collect(),
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), with_bits(value)))
                    .collect(),
            )
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The opposite of [`with_bits`].
fn with_fractions(value: &Value) -> Value {
    let bits = |members: &serde_json::Map<String, Value>| members.get(BITS)?.as_u64();
    match value {
        Value::Array(items) => items.iter().map(with_fractions).collect(),
        Value::Object(members) => bits(members).map_or_else(
            || {
                let members = members.iter();
                let members = members.map(|(name, value)| (name.clone(), with_fractions(value)));
                Value::Object(members.collect())
            },
            |bits| Number::from_f64(f64::from_bits(bits)).map_or(Value::Null, Value::Number),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versions::{DriftRule, VersionChain};
    use tempfile::TempDir;

    fn verdict(problem: &str) -> Verdict {
        let mut chain = VersionChain::new(DriftRule::Reference);
        chain.add_mistake(problem);
        Verdict {
            version: chain.versions.remove(0),
            real: Some(RealVersion {
                iteration: 0,
                rows: Vec::new(),
                test_returns: Some(vec![0.1 + 0.2, 1.0 / 3.0, -1e-300, 0.0]),
            }),
        }
    }

    #[test]
    fn a_verdict_is_taken_up_to_the_last_bit_after_the_same_answers_alone() {
        let folder = TempDir::new().unwrap();
        let mut kept = KeptVerdicts::open(folder.path(), b"judge").unwrap();
        for answer in ["one", "two"] {
            assert_eq!(kept.next(0, answer), None);
            kept.keep(&verdict(answer)).unwrap();
        }
        let mut again = KeptVerdicts::open(folder.path(), b"judge").unwrap();
        assert_eq!(again.next(0, "one"), Some(verdict("one")));
        assert_eq!(again.next(0, "two"), Some(verdict("two")));
        // The same answer after another one is of another version.
        let mut other = KeptVerdicts::open(folder.path(), b"judge").unwrap();
        assert_eq!(other.next(0, "other"), None);
        assert_eq!(other.next(0, "two"), None);
        // So is one of another judge, and one that stands at another place.
        let mut foreign = KeptVerdicts::open(folder.path(), b"another judge").unwrap();
        assert_eq!(foreign.next(0, "one"), None);
        let mut misplaced = KeptVerdicts::open(folder.path(), b"judge").unwrap();
        assert_eq!(misplaced.next(1, "one"), None);
        KeptVerdicts::remove(folder.path()).unwrap();
        KeptVerdicts::remove(folder.path()).unwrap();
        assert_eq!(
            KeptVerdicts::open(folder.path(), b"judge")
                .unwrap()
                .next(0, "one"),
            None
        );
    }

    #[test]
    fn a_verdict_that_cannot_be_read_is_none() {
        let folder = TempDir::new().unwrap();
        let mut kept = KeptVerdicts::open(folder.path(), b"judge").unwrap();
        kept.next(0, "one");
        let line = VerdictLine {
            answers: kept.answers.clone(),
            verdict: json!({"version": 5}),
        };
        kept.journal.add(&line).unwrap();
        assert_eq!(
            KeptVerdicts::open(folder.path(), b"judge")
                .unwrap()
                .next(0, "one"),
            None
        );
    }
}
