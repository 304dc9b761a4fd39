//! Texts for a model that judges formulas, and for one that finds them. They are part of no episode, so they have hashes
//! of their own.

use crate::hash_of;
use crate::slots::{
    AttemptSlots, ForceSlots, FormulasSlots, MinerRoundSlots, MinerRulesSlots, NoSlots, NotJsonSlots,
    OperatorSlots, ProblemSlots, ToolSlots,
};
use crate::template::templates;
use ktd_masking::{Payload, Prompt};

templates! {
    /// How to answer where there are no tools and the vendor holds the answer to JSON (level F3).
    fn alpha_as_json(ForceSlots): AS_JSON = include_str!("../alpha/as_json.md");
    /// How to answer where there are no tools and one JSON object is taken from plain text (level F4).
    fn alpha_as_text(ForceSlots): AS_TEXT = include_str!("../alpha/as_text.md");
    /// How to answer where the answer is a call (levels F0 to F2).
    fn alpha_by_call(ToolSlots): BY_CALL = include_str!("../alpha/by_call.md");
    /// The reply to an answer that breaks the required form.
    fn alpha_feedback_form(ProblemSlots): FEEDBACK_FORM = include_str!("../alpha/feedback_form.md");
    /// The reply to an answer that is not JSON.
    fn alpha_feedback_not_json(NotJsonSlots): FEEDBACK_NOT_JSON = include_str!("../alpha/feedback_not_json.md");
    /// The reply to an answer that is not one call.
    fn alpha_feedback_no_call(AttemptSlots): FEEDBACK_NO_CALL = include_str!("../alpha/feedback_no_call.md");
    /// The reply to an answer without tools (levels F3 and F4) that is not one JSON object.
    fn alpha_feedback_no_object(AttemptSlots): FEEDBACK_NO_OBJECT = include_str!("../alpha/feedback_no_object.md");
    /// The reply to an answer that was declined or filtered.
    fn alpha_feedback_refusal(AttemptSlots): FEEDBACK_REFUSAL = include_str!("../alpha/feedback_refusal.md");
    /// The reply to an answer that was cut off at its longest length.
    fn alpha_feedback_truncated(AttemptSlots): FEEDBACK_TRUNCATED = include_str!("../alpha/feedback_truncated.md");
    /// The question of a judge: formulas to score.
    fn alpha_judge_question(FormulasSlots): JUDGE_QUESTION = include_str!("../alpha/judge_question.md");
    JUDGE_SYSTEM = include_str!("../alpha/judge_system.md");
    JUDGE_SYSTEM_PAPER = include_str!("../alpha/judge_system_paper.md");
    /// The question of a round of a search: what was found so far, and how many formulas are asked for.
    fn alpha_miner_question(MinerRoundSlots): MINER_QUESTION = include_str!("../alpha/miner_question.md");
    MINER_SYSTEM = include_str!("../alpha/miner_system.md");
    OPERATORS = include_str!("../alpha/operators.md");
}

/// How a judge is instructed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum JudgePrompt {
    /// From 0 to 100; length is no merit.
    #[default]
    Ours,
    /// From 50 to 100, and longer formulas are liked, as in published scores.
    Paper,
}

impl JudgePrompt {
    /// The lowest score that it asks for. A lower one from 0 on is a score all the same.
    #[must_use]
    pub const fn lowest(self) -> usize {
        match self {
            Self::Ours => 0,
            Self::Paper => 50,
        }
    }
}

fn operators(has_field: impl Fn(&str) -> bool) -> Prompt {
    let fields = FIELDS
        .iter()
        .filter(|field| has_field(field.trim_start_matches('$')));
    let fields = Payload::list(fields.map(|field| Payload::label(field)));
    OPERATORS.append(Prompt::new(), &OperatorSlots { fields })
}

/// Fields that a model may use, with the dollar sign.
const FIELDS: [&str; 9] = [
    "$open", "$high", "$low", "$close", "$volume", "$amount", "$vwap", "$change", "$factor",
];

/// The system message of a judge: the same for all its questions, so that a vendor's prompt cache holds.
#[must_use]
pub fn alpha_judge_system(prompt: JudgePrompt) -> Prompt {
    let system = match prompt {
        JudgePrompt::Ours => &JUDGE_SYSTEM,
        JudgePrompt::Paper => &JUDGE_SYSTEM_PAPER,
    };
    system
        .append(Prompt::new(), &NoSlots {})
        .text("\n")
        .append(operators(|_| true))
}

/// The system message of a model that finds formulas from the fields there are, by their names in lower case.
#[must_use]
pub fn alpha_miner_system(slots: &MinerRulesSlots, has_field: impl Fn(&str) -> bool) -> Prompt {
    MINER_SYSTEM
        .append(Prompt::new(), slots)
        .text("\n")
        .append(operators(has_field))
}

/// SHA-256 over all texts for judges and searches, in hexadecimal.
#[must_use]
pub fn alpha_hash() -> String {
    hash_of(b"ktd alpha prompts 1\0", ALL.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::tests::{check, slot_names};
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_a_template_and_its_slots_are_filled() {
        check("alpha", ALL, MESSAGES);
        assert_eq!(slot_names(&OPERATORS), BTreeSet::from(["fields"]));
        assert_eq!(slot_names(&MINER_SYSTEM), BTreeSet::from(["label", "max_nodes"]));
        for template in [&JUDGE_SYSTEM, &JUDGE_SYSTEM_PAPER] {
            assert!(slot_names(template).is_empty());
        }
    }

    #[test]
    fn our_judge_is_told_that_length_is_no_merit_and_the_published_one_likes_it() {
        let ours = alpha_judge_system(JudgePrompt::Ours).render();
        assert!(ours.contains("Length is no merit") && ours.contains("IdxMax"));
        let paper = alpha_judge_system(JudgePrompt::Paper).render();
        assert!(paper.contains("from 50 to 100") && paper.contains("Longer factors"));
    }

    #[test]
    fn a_search_is_given_no_market_and_the_fields_there_are() {
        let slots = MinerRulesSlots {
            label: Payload::label("of the next day"),
            max_nodes: Payload::label("32"),
        };
        let system = alpha_miner_system(&slots, |field| field != "vwap").render();
        assert!(!system.contains("\"$vwap\"") && system.contains("\"$volume\""));
        assert!(system.contains("At most 32 parts") && system.contains("No formula may read a later day"));
        for name in ["China", "CSI", "A-share", "Shanghai"] {
            assert!(!system.contains(name), "{name}");
        }
        for field in FIELDS {
            assert!(Payload::formula_fields().contains(&&field[1..]), "{field}");
        }
    }

    #[test]
    fn the_hash_is_apart_from_those_of_episodes_and_attacks() {
        assert_eq!(alpha_hash().len(), 64);
        assert_ne!(alpha_hash(), crate::hash());
        assert_ne!(alpha_hash(), crate::attack_hash());
    }
}
