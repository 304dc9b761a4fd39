//! The questions to one judge.

use super::events::QuestionEvent;
use super::list::JudgeList;
use super::question::JudgeQuestion;
use super::scores::scores_of;
use crate::judge_config::JudgeWording;
use crate::language::FormulaConversations;
use futures::StreamExt;
use ktd_study::{Hands, StudyError};

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
    let mut put: Vec<_> = futures::stream::iter(put)
        .buffer_unordered(parallel)
        .collect()
        .await;
    put.sort_by_key(|(question, _)| question.step);
    let mut events = Vec::with_capacity(put.len());
    for (question, answered) in put {
        events.extend(answered?.map(|answered| QuestionEvent::of(question, answered)));
    }
    Ok(events)
}
