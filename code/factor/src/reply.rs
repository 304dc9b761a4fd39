//! From a model's reply to the source of a function, and to the function in it.

use crate::job::FailureReason;
use crate::syntax::SyntaxFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is reported of a reply, without being judged.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyFlag {
    /// The source stood in a fence.
    Markdown,
    /// The function has another name than `alpha_..`.
    Name,
    /// The series has another name than the function.
    SeriesName,
    /// A value was infinite.
    #[serde(rename = "inf")]
    #[strum(serialize = "inf")]
    Infinite,
    /// The function has no docstring.
    NoDocstring,
    /// There is more than one function.
    ManyFunctions,
}

impl ReplyFlag {
    /// The word that records hold.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// A reply that holds no source to judge: a fault of the model with a class of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceProblem {
    /// Nothing was answered.
    NoAnswer,
    /// The vendor reports a refusal.
    Refusal,
    /// The reply was cut by the limit of tokens.
    Truncated,
}

impl SourceProblem {
    /// The word that records hold.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoAnswer => "no_answer",
            Self::Refusal => "refusal",
            Self::Truncated => "truncated",
        }
    }
}

/// The source of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplySource {
    /// The source, with one line end at its end.
    pub text: String,
    /// Whether it stood in a fence.
    pub was_fenced: bool,
}

impl ReplySource {
    /// What stands inside the first fence, or all of the reply.
    #[must_use]
    pub fn of(reply: &str) -> Self {
        const FENCE: &str = "```";
        let text = reply.replace("\r\n", "\n");
        let Some((_, after)) = text.split_once(FENCE) else {
            return Self {
                text: trimmed(&text),
                was_fenced: false,
            };
        };
        // the fence's own line may name the language
        let inside = after.split_once('\n').map(|(_, inside)| inside);
        Self {
            text: trimmed(inside.map_or(&text, |inside| inside.split(FENCE).next().unwrap_or(inside))),
            was_fenced: true,
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

fn trimmed(text: &str) -> String {
    let mut text = text.trim_matches('\n').to_owned();
    text.push('\n');
    text
}

/// The function of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenFunction {
    /// Its name.
    pub name: String,
    /// Whether it is the one function there is, under another name than `alpha_..`.
    pub is_misnamed: bool,
}

impl ChosenFunction {
    /// The last top-level function whose name begins with `alpha_`; without one, the only one.
    ///
    /// # Errors
    /// [`FailureReason::NoFunction`] where there is no function, or several and none of that name.
    pub fn of(facts: &SyntaxFacts) -> Result<Self, FailureReason> {
        let names: Vec<&str> = facts.top_functions().map(|place| facts.text(place)).collect();
        let named = names.iter().rev().find(|name| name.starts_with("alpha_"));
        match (named, names.as_slice()) {
            (Some(name), _) => Ok(Self {
                name: (*name).to_owned(),
                is_misnamed: false,
            }),
            (None, [only]) => Ok(Self {
                name: (*only).to_owned(),
                is_misnamed: true,
            }),
            _ => Err(FailureReason::NoFunction),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(reply: &str) -> (String, bool) {
        let source = ReplySource::of(reply);
        (source.text, source.was_fenced)
    }

    #[test]
    fn the_first_fence_counts_and_without_one_all_of_the_reply() {
        let code = "def alpha_a(df):\n    return df\n";
        assert_eq!(source(code), (code.to_owned(), false));
        let fenced = format!("Here it is:\r\n```python\r\n{code}```\nand\n```\nother\n```");
        assert_eq!(source(&fenced), (code.to_owned(), true));
        assert_eq!(source(&format!("```\n{code}")), (code.to_owned(), true));
        assert_eq!(source("a ``` b"), ("a ``` b\n".to_owned(), true));
        assert!(ReplySource::of("\n \n").is_blank());
    }
}
