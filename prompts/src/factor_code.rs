//! Texts for a model that writes a factor as a Python function. They are part of no episode and have a hash of their own.
//!
//! Their `{{slots}}` are filled with text from outside any mask (a task, the last line of a traceback), which only the open
//! prompts of crates outside an episode can carry; here they are texts and nothing else.

use crate::hash_of;
use crate::template::open_templates;

open_templates! {
    /// The system message that asks for a chain of thought first; its slot is `name`.
    SYSTEM_COT = include_str!("../factor_code/system_cot.md");
    /// The shortest system message; its slot is `name`.
    SYSTEM_CONCISE = include_str!("../factor_code/system_concise.md");
    /// The system message with all rules; its slot is `name`.
    SYSTEM_ORIGINAL = include_str!("../factor_code/system_original.md");
    /// The message that opens a task; its slots are `task` and `name`.
    USER = include_str!("../factor_code/user.md");
    /// The reply to a function that did not run; its slots are `reason` and `detail`.
    FEEDBACK_EXECUTION = include_str!("../factor_code/feedback_execution.md");
    /// The reply to a function that looks ahead; its slots are `date` and `how`.
    FEEDBACK_LEAK = include_str!("../factor_code/feedback_leak.md");
    /// The reply to an answer without a function; its slot is `reason`.
    FEEDBACK_NO_FUNCTION = include_str!("../factor_code/feedback_no_function.md");
    /// The reply to a function with loops; its slot is `violations`.
    FEEDBACK_STRUCTURE = include_str!("../factor_code/feedback_structure.md");
    /// The reply to a function with wrong values; its slots are `wrong`, `rows` and `date`.
    FEEDBACK_VALUES = include_str!("../factor_code/feedback_values.md");
}

/// SHA-256 over all texts for a writer of factors, in hexadecimal.
#[must_use]
pub fn factor_code_hash() -> String {
    hash_of(b"ktd factor code prompts 1\0", ALL.iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Piece;

    #[test]
    fn texts_ask_for_what_their_docs_name() {
        let slots = |name: &str| -> Vec<&str> {
            let template = ALL.iter().find(|template| template.name == name).unwrap();
            template
                .pieces()
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Slot(slot) => Some(*slot),
                    Piece::Text(_) => None,
                })
                .collect()
        };
        assert_eq!(slots("SYSTEM_ORIGINAL"), ["name"]);
        assert_eq!(slots("SYSTEM_CONCISE"), ["name"]);
        assert_eq!(slots("SYSTEM_COT"), ["name"]);
        assert_eq!(slots("USER"), ["task", "name"]);
        assert_eq!(slots("FEEDBACK_EXECUTION"), ["reason", "detail"]);
        assert_eq!(slots("FEEDBACK_LEAK"), ["date", "how"]);
        assert_eq!(slots("FEEDBACK_NO_FUNCTION"), ["reason"]);
        assert_eq!(slots("FEEDBACK_STRUCTURE"), ["violations"]);
        assert_eq!(slots("FEEDBACK_VALUES"), ["wrong", "rows", "date"]);
    }

    #[test]
    fn the_cot_style_keeps_the_rules_and_asks_for_one_block() {
        let rules = |text: &str| {
            text.lines()
                .filter(|line| line.starts_with(['1', '2', '3', '4']))
                .count()
        };
        assert_eq!(rules(SYSTEM_ORIGINAL), 4);
        assert_eq!(rules(SYSTEM_COT), 4);
        assert!(SYSTEM_COT.contains("one Python code block") && !SYSTEM_COT.contains("without Markdown"));
        assert_ne!(factor_code_hash(), crate::hash());
    }
}
