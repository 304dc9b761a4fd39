//! What a model that finds formulas submits, read by form alone.

use crate::language::{AnswerFault, read_object};
use ktd_masking::{Schema, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The name of the tool that submits formulas.
const SUBMIT_ALPHAS: &str = "submit_alphas";

// The arguments of an answer. A doc comment here becomes part of what the model reads.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the schema generator alone")]
struct AlphasArguments {
    /// The formulas.
    alphas: Vec<AlphaArguments>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the schema generator alone")]
struct AlphaArguments {
    /// The formula.
    expression: String,
    /// The idea behind it, in one sentence.
    idea: String,
}

/// The tool that proposes formulas.
pub(super) fn proposal_tool() -> ToolSpec {
    ToolSpec {
        name: SUBMIT_ALPHAS,
        description: "Submits new formulas, each with the idea behind it.",
        parameters: Schema::of::<AlphasArguments>(),
    }
}

/// A proposed formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedAlpha {
    /// Its text, as it was written.
    pub expression: String,
    /// The idea, in the model's words. No model is shown it.
    pub idea: String,
}

#[derive(Deserialize)]
struct Arguments {
    alphas: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Entry {
    expression: Option<Value>,
    idea: Option<Value>,
}

/// Reads proposed formulas out of a call's arguments; whether they are formulas is another question.
///
/// # Errors
/// The stable code of what is wrong.
pub fn read_proposals(text: &str) -> Result<Vec<ProposedAlpha>, &'static str> {
    proposals_of(text).map_err(|fault| fault.code())
}

/// The same with a fault that the model is told.
pub(super) fn proposals_of(text: &str) -> Result<Vec<ProposedAlpha>, AnswerFault> {
    let arguments: Arguments = read_object(text)?;
    let alphas = arguments.alphas.ok_or(AnswerFault::Missing("alphas"))?;
    let entries: Vec<Box<RawValue>> =
        serde_json::from_str(alphas.get()).map_err(|_| AnswerFault::WrongType("alphas"))?;
    if entries.is_empty() {
        return Err(AnswerFault::NoAlpha);
    }
    entries.iter().map(|entry| read_entry(entry.get())).collect()
}

fn read_entry(text: &str) -> Result<ProposedAlpha, AnswerFault> {
    let wrong = AnswerFault::WrongType("alphas");
    if !text.trim_start().starts_with('{') {
        return Err(wrong);
    }
    let entry: Entry = serde_json::from_str(text).map_err(|_| wrong)?;
    Ok(ProposedAlpha {
        expression: text_of("expression", entry.expression)?,
        idea: text_of("idea", entry.idea)?,
    })
}

fn text_of(key: &'static str, value: Option<Value>) -> Result<String, AnswerFault> {
    match value {
        None => Err(AnswerFault::Missing(key)),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(AnswerFault::WrongType(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_has_its_code() {
        for (text, code) in [
            ("alphas: none", "answer_not_json"),
            (r#"[{"expression":"$close","idea":"x"}]"#, "answer_not_an_object"),
            (r#"{"factors":[]}"#, "answer_incomplete"),
            (r#"{"alphas":[]}"#, "no_alpha"),
            (r#"{"alphas":["$close"]}"#, "answer_wrong_type"),
            (r#"{"alphas":[{"expression":"$close"}]}"#, "answer_incomplete"),
            (
                r#"{"alphas":[{"expression":["$close"],"idea":"x"}]}"#,
                "answer_wrong_type",
            ),
        ] {
            assert_eq!(read_proposals(text).unwrap_err(), code, "{text}");
        }
        let read = read_proposals(r#"{"alphas":[{"expression":"$close","idea":"x","why":1}]}"#).unwrap();
        assert_eq!(read[0].expression, "$close");
        assert_eq!(proposal_tool().name, SUBMIT_ALPHAS);
    }
}
