//! What a judge submits, read by form alone.

use crate::language::{AnswerFault, read_object};
use ktd_alphas::{SubmittedScore, complete_scores};
use ktd_masking::{Schema, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The name of the tool that submits scores.
const SUBMIT_SCORES: &str = "submit_scores";

// The arguments of an answer. A doc comment here becomes part of what the model reads.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the schema generator alone")]
struct ScoresArguments {
    /// One entry for each formula.
    scores: Vec<ScoreArguments>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the schema generator alone")]
struct ScoreArguments {
    /// The formula's index.
    index: u32,
    /// Its score.
    #[schemars(range(min = 0, max = 100))]
    score: f64,
    /// One sentence.
    explanation: String,
}

/// The tool that a judge answers by.
pub(super) fn tool() -> ToolSpec {
    ToolSpec {
        name: SUBMIT_SCORES,
        description: "Submits a score from 0 to 100 for each formula.",
        parameters: Schema::of::<ScoresArguments>(),
    }
}

/// The score of one formula in an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerScore {
    /// From 0 to 100, as it was written.
    pub score: f64,
    /// Why, in the judge's words.
    pub explanation: String,
}

#[derive(Deserialize)]
struct Arguments {
    scores: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Entry {
    index: Option<Value>,
    score: Option<Value>,
    explanation: Option<Value>,
}

/// Reads the scores of so many formulas out of a call's arguments: each index once, each score from 0 to 100, in any order.
///
/// # Errors
/// The stable code of what is wrong, and the indices that it is about.
pub fn read_scores(text: &str, formulas: usize) -> Result<Vec<AnswerScore>, (&'static str, Vec<u64>)> {
    scores_of(text, formulas).map_err(|fault| {
        let named = match &fault {
            AnswerFault::Scores(fault) => fault.indices().to_vec(),
            AnswerFault::NotJson { .. }
            | AnswerFault::NotAnObject
            | AnswerFault::Missing(_)
            | AnswerFault::WrongType(_)
            | AnswerFault::NoAlpha => Vec::new(),
        };
        (fault.code(), named)
    })
}

/// The same with a fault that the model is told.
pub(super) fn scores_of(text: &str, formulas: usize) -> Result<Vec<AnswerScore>, AnswerFault> {
    let arguments: Arguments = read_object(text)?;
    let scores = arguments.scores.ok_or(AnswerFault::Missing("scores"))?;
    let entries: Vec<Box<RawValue>> =
        serde_json::from_str(scores.get()).map_err(|_| AnswerFault::WrongType("scores"))?;
    let mut submitted = Vec::with_capacity(entries.len());
    let mut explanations = vec![String::new(); formulas];
    for entry in entries {
        let (score, explanation) = read_entry(entry.get())?;
        let place = usize::try_from(score.index).ok();
        if let Some(kept) = place.and_then(|place| explanations.get_mut(place)) {
            *kept = explanation;
        }
        submitted.push(score);
    }
    let scores = complete_scores(formulas, &submitted).map_err(AnswerFault::Scores)?;
    let answered = scores.into_iter().zip(explanations);
    Ok(answered
        .map(|(score, explanation)| AnswerScore { score, explanation })
        .collect())
}

fn read_entry(text: &str) -> Result<(SubmittedScore, String), AnswerFault> {
    let wrong = AnswerFault::WrongType("scores");
    if !text.trim_start().starts_with('{') {
        return Err(wrong);
    }
    let entry: Entry = serde_json::from_str(text).map_err(|_| wrong)?;
    let index = entry.index.ok_or(AnswerFault::Missing("index"))?;
    let index = index.as_u64().ok_or(AnswerFault::WrongType("index"))?;
    let score = entry.score.ok_or(AnswerFault::Missing("score"))?;
    let score = score.as_f64().ok_or(AnswerFault::WrongType("score"))?;
    let explanation = entry.explanation.ok_or(AnswerFault::Missing("explanation"))?;
    let explanation = explanation
        .as_str()
        .ok_or(AnswerFault::WrongType("explanation"))?;
    Ok((SubmittedScore { index, score }, explanation.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_stay_with_their_formulas() {
        let text = r#"{"scores":[{"index":1,"score":70,"explanation":"y"},{"index":0,"score":50.5,"explanation":"x"}]}"#;
        let scores = read_scores(text, 2).unwrap();
        let read: Vec<(f64, &str)> = scores
            .iter()
            .map(|score| (score.score, score.explanation.as_str()))
            .collect();
        assert_eq!(read, [(50.5, "x"), (70.0, "y")]);
    }

    #[test]
    fn each_mistake_has_its_code() {
        for (text, code) in [
            ("{'scores': []}", "answer_not_json"),
            ("[[]]", "answer_not_an_object"),
            (r#"{"scores":[],"scores":[]}"#, "answer_not_an_object"),
            (r#"{"alphas":[]}"#, "answer_incomplete"),
            (r#"{"scores":{}}"#, "answer_wrong_type"),
            (r#"{"scores":[[0,70,"y"]]}"#, "answer_wrong_type"),
            (
                r#"{"scores":[{"index":0,"score":70,"score":80,"explanation":"y"}]}"#,
                "answer_wrong_type",
            ),
            (r#"{"scores":[{"index":0,"score":70}]}"#, "answer_incomplete"),
            (
                r#"{"scores":[{"index":0,"score":70,"explanation":null}]}"#,
                "answer_incomplete",
            ),
            (
                r#"{"scores":[{"index":-1,"score":70,"explanation":"y"}]}"#,
                "answer_wrong_type",
            ),
            (
                r#"{"scores":[{"index":0,"score":1e400,"explanation":"y"}]}"#,
                "answer_wrong_type",
            ),
        ] {
            assert_eq!(read_scores(text, 1).unwrap_err().0, code, "{text}");
        }
    }
}
