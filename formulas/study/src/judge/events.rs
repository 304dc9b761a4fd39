//! `events.jsonl` of a judge: a line a question.

use super::question::JudgeQuestion;
use super::scores::AnswerScore;
use crate::language::{LossKind, QuestionEnd};
use serde::{Deserialize, Serialize};

/// What became of one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionEvent {
    pub(super) question: usize,
    pub(super) order: usize,
    /// Places of its formulas in the list.
    pub(super) formulas: Vec<usize>,
    /// By formula; none where the answer is lost.
    pub(super) scores: Option<Vec<AnswerScore>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) lost: Option<LossKind>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(super) mistakes: Vec<String>,
}

impl QuestionEvent {
    pub(super) fn of(question: &JudgeQuestion, answered: QuestionEnd<Vec<AnswerScore>>) -> Self {
        let (scores, lost) = match answered.answer {
            Ok(scores) => (Some(scores), None),
            Err(lost) => (None, Some(lost)),
        };
        Self {
            question: question.step,
            order: question.order,
            formulas: question.entries.clone(),
            scores,
            lost: lost.as_ref().map(|lost| lost.kind),
            reason: lost.map(|lost| lost.reason),
            mistakes: answered.mistakes,
        }
    }
}
