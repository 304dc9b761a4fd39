//! What is wrong with the form of an answer, as a code and as feedback for the model.

use ktd_alphas::ScoresFault;
use ktd_masking::{Count, Payload, Prompt};
use ktd_prompts::{NotJsonSlots, ProblemSlots};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

/// Why an answer is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerFault {
    /// It is no JSON from this line and column on, both 1-based.
    NotJson { line: usize, column: usize },
    /// It is no object, or one with a key twice.
    NotAnObject,
    /// A key is missing.
    Missing(&'static str),
    /// A value has the wrong JSON type, or an entry has a key twice.
    WrongType(&'static str),
    /// Scores that are not one from 0 to 100 for each formula.
    Scores(ScoresFault),
    /// No formula.
    NoAlpha,
}

impl AnswerFault {
    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::NotJson { .. } => "answer_not_json",
            Self::NotAnObject => "answer_not_an_object",
            Self::Missing(_) => "answer_incomplete",
            Self::WrongType(_) => "answer_wrong_type",
            Self::Scores(fault) => fault.code(),
            Self::NoAlpha => "no_alpha",
        }
    }

    /// The feedback on an attempt, never with a word of the model's own.
    pub(crate) fn feedback(&self, (number, of): (u32, u32)) -> Payload {
        let (attempt, attempts) = (counted(number), counted(of));
        if let Self::NotJson { line, column } = self {
            let slots = NotJsonSlots {
                line: Count::of(*line).into(),
                column: Count::of(*column).into(),
                attempt,
                attempts,
            };
            return ktd_prompts::alpha_feedback_not_json(&slots).into();
        }
        let slots = ProblemSlots {
            problem: self.problem().into(),
            attempt,
            attempts,
        };
        ktd_prompts::alpha_feedback_form(&slots).into()
    }

    fn problem(&self) -> Prompt {
        let problem = Prompt::new().text(self.code()).text(", ");
        match self {
            Self::NotJson { .. } => problem.text("it is not JSON"),
            Self::NotAnObject => problem.text("it must be one JSON object with each key once"),
            Self::Missing(key) => problem.text("the key `").text(key).text("` is missing"),
            Self::WrongType(key) => problem
                .text("`")
                .text(key)
                .text("` has the wrong JSON type, or an entry has a key twice"),
            Self::Scores(fault) => {
                let text = match fault {
                    ScoresFault::IndexUnknown(_) => "there is no formula of index ",
                    ScoresFault::IndexTwice(_) => "a formula has two scores: index ",
                    ScoresFault::ScoreRange(_) => "a score is not within 0 and 100: index ",
                    ScoresFault::Incomplete(_) => "a formula has no score: index ",
                };
                problem.text(text).payload(listed(fault.indices()))
            }
            Self::NoAlpha => problem.text("it holds no formula"),
        }
    }
}

/// The first of some indices: feedback shows a place, not a list without end.
fn listed(indices: &[u64]) -> Payload {
    const SHOWN: usize = 8;
    let shown = indices.iter().take(SHOWN);
    Payload::list(shown.map(|index| counted(u32::try_from(*index).unwrap_or(u32::MAX))))
}

pub(crate) fn counted(value: u32) -> Payload {
    Count::of(usize::try_from(value).unwrap_or(usize::MAX)).into()
}

/// Reads an answer that is one JSON object. Keys that were not asked for are passed over.
pub(crate) fn read_object<T: DeserializeOwned>(text: &str) -> Result<T, AnswerFault> {
    let read = serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => AnswerFault::NotJson {
            line: error.line(),
            column: error.column(),
        },
        Category::Data => AnswerFault::NotAnObject,
    })?;
    // A list would pass for an object: serde reads structs from sequences too.
    if text.trim_start().starts_with('{') {
        Ok(read)
    } else {
        Err(AnswerFault::NotAnObject)
    }
}
