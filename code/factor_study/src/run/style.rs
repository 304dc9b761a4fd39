//! How a model is asked for a function.

use ktd_factor_code::FactorTask;
use ktd_prompts::factor_code::{SYSTEM_CONCISE, SYSTEM_COT, SYSTEM_ORIGINAL, USER};
use ktd_unmasked::OpenPrompt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a model is asked for a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CodeStyle {
    /// With all rules, for code alone.
    Original,
    /// The task and the function's name alone.
    Concise,
    /// With all rules, for thoughts first and a fence then.
    Cot,
}

impl CodeStyle {
    /// The word in files and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Concise => "concise",
            Self::Cot => "cot",
        }
    }

    /// Whether a fence around the code is what was asked for.
    pub(crate) const fn asks_for_a_fence(self) -> bool {
        matches!(self, Self::Cot)
    }

    /// The standing instructions.
    pub(crate) fn system(self, task: &FactorTask) -> OpenPrompt {
        let template = match self {
            Self::Original => SYSTEM_ORIGINAL,
            Self::Concise => SYSTEM_CONCISE,
            Self::Cot => SYSTEM_COT,
        };
        OpenPrompt::new().filled(template, &[("name", &task.function)])
    }

    /// The message that opens a task.
    pub(crate) fn user(task: &FactorTask) -> OpenPrompt {
        OpenPrompt::new().filled(USER, &[("task", &task.prompt), ("name", &task.function)])
    }
}
