//! What a model is sent between two rounds.

use super::config::FeedbackKey;
use ktd_factor_code::FeedbackFacts;
use ktd_prompts::factor_code::{
    FEEDBACK_EXECUTION, FEEDBACK_LEAK, FEEDBACK_NO_FUNCTION, FEEDBACK_STRUCTURE, FEEDBACK_VALUES,
};
use ktd_unmasked::OpenPrompt;

/// The most characters of a feedback.
const MOST_CHARACTERS: usize = 2_000;

/// The text for what is wrong with a function; none where this scope ends the task.
pub(super) fn feedback_text(facts: &FeedbackFacts, scope: FeedbackKey) -> Option<String> {
    let is_execution = matches!(
        facts,
        FeedbackFacts::NoSource(_) | FeedbackFacts::Execution { .. }
    );
    if scope == FeedbackKey::Execution && !is_execution {
        return None;
    }
    let prompt = prompt_of(facts);
    Some(prompt.as_str().chars().take(MOST_CHARACTERS).collect())
}

fn prompt_of(facts: &FeedbackFacts) -> OpenPrompt {
    let prompt = OpenPrompt::new();
    let later = |were_removed: bool| if were_removed { "removed" } else { "changed" };
    match facts {
        FeedbackFacts::NoSource(fault) => prompt.filled(FEEDBACK_NO_FUNCTION, &[("reason", fault.code())]),
        FeedbackFacts::Execution {
            reason,
            class,
            message,
            line,
        } => {
            let said = [class.as_deref(), message.as_deref()];
            let said: Vec<&str> = said.into_iter().flatten().collect();
            let place = line.map_or(String::new(), |line| format!(" (line {line})"));
            let detail = format!("{}{place}", said.join(": "));
            prompt.filled(
                FEEDBACK_EXECUTION,
                &[("reason", *reason), ("detail", detail.trim())],
            )
        }
        FeedbackFacts::Nondeterministic => {
            let detail = "Two runs on the same data gave different values.";
            prompt.filled(
                FEEDBACK_EXECUTION,
                &[("reason", "nondeterministic"), ("detail", detail)],
            )
        }
        FeedbackFacts::PrefixError { reason, were_removed } => {
            let detail = format!("It failed when later rows were {}.", later(*were_removed));
            prompt.filled(FEEDBACK_EXECUTION, &[("reason", *reason), ("detail", &detail)])
        }
        FeedbackFacts::Leak { day, were_removed } => prompt.filled(
            FEEDBACK_LEAK,
            &[("date", &day.to_string()), ("how", later(*were_removed))],
        ),
        FeedbackFacts::Logic { rows, day } => prompt.filled(
            FEEDBACK_VALUES,
            &[
                ("wrong", &rows.count.to_string()),
                ("rows", &rows.rows.to_string()),
                ("date", &day.to_string()),
            ],
        ),
        FeedbackFacts::Structure {
            violations,
            steps_a_row,
        } => {
            let listed = violations
                .iter()
                .map(|(kind, line)| format!("{} on line {line}", kind.code()));
            let mut listed: Vec<String> = listed.collect();
            listed.push(format!(
                "{steps_a_row} calls and turns of loops for each further row"
            ));
            prompt.filled(FEEDBACK_STRUCTURE, &[("violations", &listed.join("\n"))])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_factor_code::{DifferingRows, PanelDay, SourceProblem, Violation};

    fn text(facts: &FeedbackFacts) -> String {
        feedback_text(facts, FeedbackKey::Layers).unwrap()
    }

    #[test]
    fn each_layer_has_its_text_and_no_word_of_the_right_answer() {
        let failed = FeedbackFacts::Execution {
            reason: "exception",
            class: Some("KeyError".to_owned()),
            message: Some("'{{date}}'".to_owned()),
            line: Some(3),
        };
        assert_eq!(
            text(&failed),
            "The function did not run to a usable result: exception.\nKeyError: '{{date}}' (line 3)\n\
             Send the whole function again."
        );
        let day = PanelDay::parse("2016-02-01").unwrap();
        let leak = FeedbackFacts::Leak {
            day,
            were_removed: true,
        };
        assert!(text(&leak).contains("Rows up to 2016-02-01 changed when later rows were removed."));
        let rows = DifferingRows {
            first: 3,
            count: 20,
            rows: 500,
        };
        let wrong = FeedbackFacts::Logic { rows, day };
        assert!(text(&wrong).contains("on 20 of 500 rows; the first is row 2016-02-01"));
        let loops = FeedbackFacts::Structure {
            violations: vec![(Violation::Loop, 4)],
            steps_a_row: 3.0,
        };
        assert!(text(&loops).contains("loop on line 4\n3 calls and turns"));
        assert!(text(&FeedbackFacts::NoSource(SourceProblem::Refusal)).contains("refusal"));
        for facts in [&leak, &wrong, &loops] {
            assert_eq!(feedback_text(facts, FeedbackKey::Execution), None);
        }
        assert!(feedback_text(&failed, FeedbackKey::Execution).is_some());
    }

    #[test]
    fn a_feedback_is_never_long() {
        let failed = FeedbackFacts::Execution {
            reason: "exception",
            class: None,
            message: Some("é".repeat(5_000)),
            line: None,
        };
        assert_eq!(text(&failed).chars().count(), MOST_CHARACTERS);
    }
}
