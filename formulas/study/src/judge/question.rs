//! The questions that a judge is asked: the list in several orders, cut into batches.

use super::list::JudgeList;
use super::scores::tool;
use crate::judge_config::JudgeWording;
use crate::language::FormulaQuestion;
use ktd_alphas::judge_orders;
use ktd_masking::{Count, Payload};
use ktd_prompts::{FormulasSlots, alpha_judge_question, alpha_judge_system};

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
