//! The questions that a judge is asked: the list in several orders, cut into batches; and how they are put.

use super::config::JudgeWording;
use super::list::JudgeList;
use super::scores::{AnswerScore, scores_of, tool};
use crate::language::{FormulaConversations, FormulaQuestion, QuestionEnd};
use futures::StreamExt;
use ktd_alphas::judge_orders;
use ktd_masking::{Count, Payload};
use ktd_prompts::{FormulasSlots, alpha_judge_question, alpha_judge_system};
use ktd_study::{Hands, StudyError};
use serde::{Deserialize, Serialize};

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JudgeQuestion {
    /// The place of its requests among the exchanges, from 1.
    pub(super) step: usize,
    /// The order it belongs to; that after the last repeats the first.
    pub(super) order: usize,
    /// Places of its formulas in the list.
    pub(super) entries: Vec<usize>,
}

/// The questions of so many orders, and the first order once more.
pub(super) fn questions(list: &JudgeList, seed: u64, orders: usize, batch: usize) -> Vec<JudgeQuestion> {
    let mut arranged = judge_orders(seed, list.entries.len(), orders);
    arranged.extend(arranged.first().cloned());
    let batches = arranged.iter().enumerate().flat_map(|(order, places)| {
        places
            .chunks(batch.max(1))
            .map(move |entries| (order, entries.to_vec()))
    });
    (1..)
        .zip(batches)
        .map(|(step, (order, entries))| JudgeQuestion { step, order, entries })
        .collect()
}

impl JudgeQuestion {
    /// The conversation that puts it.
    pub(super) fn opening(&self, list: &JudgeList, wording: JudgeWording) -> FormulaQuestion {
        let prompt = wording.prompt();
        let formula = |(index, place): (usize, &usize)| {
            let entry = list.entries.get(*place)?;
            // What cannot be shown is on no list.
            let formula = Payload::formula(entry.formula.formula()).ok()?;
            Some(Payload::map([
                ("index", Count::of(index).into()),
                ("formula", formula),
            ]))
        };
        let formulas = self.entries.iter().enumerate().filter_map(formula);
        FormulaQuestion {
            step: self.step,
            what: format!("question {}", self.step),
            tool: tool(),
            system: alpha_judge_system(prompt),
            question: alpha_judge_question(&FormulasSlots {
                lowest: Count::of(prompt.lowest()).into(),
                formulas: Payload::list(formulas),
            }),
        }
    }
}

/// What became of one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct QuestionEvent {
    pub(super) question: usize,
    pub(super) order: usize,
    /// Places of its formulas in the list.
    pub(super) formulas: Vec<usize>,
    /// By formula; none where the answer is lost.
    #[serde(flatten)]
    pub(super) end: QuestionEnd<Vec<AnswerScore>>,
}

/// Puts all questions, so many at once; events come by question. A conversation that was begun is led to its end even when
/// another one is stopped, so that nothing that was sent is lost.
pub(super) async fn held_questions(
    hands: &Hands<'_, ()>,
    (asked, about): (&[JudgeQuestion], (&JudgeList, JudgeWording)),
    schema_retries: u32,
    parallel: usize,
) -> Result<Vec<QuestionEvent>, StudyError> {
    let conversations = &FormulaConversations {
        asking: hands.asked()?.conversations(),
        schema_retries,
    };
    let put = asked.iter().map(|question| async move {
        let formulas = question.entries.len();
        let opening = question.opening(about.0, about.1);
        let answered = conversations
            .hold(opening, &move |text: &str| scores_of(text, formulas))
            .await;
        hands.advance(1);
        (question, answered)
    });
    let put = futures::stream::iter(put).buffer_unordered(parallel);
    let mut put: Vec<_> = put.collect().await;
    put.sort_by_key(|(question, _)| question.step);
    let mut events = Vec::with_capacity(put.len());
    for (question, answered) in put {
        events.extend(answered?.map(|end| QuestionEvent {
            question: question.step,
            order: question.order,
            formulas: question.entries.clone(),
            end,
        }));
    }
    Ok(events)
}
