//! Every text the harness says to a model, compiled in and hashed.
//!
//! A message is template text with payloads in its slots; there is no other way to put anything into one. System
//! messages vary with settings alone (mode, mask level, numbers of the rules), never with a day or a seed.
//!
//! Knows: masking. Never knows: the market, tools, agents, files.

mod slots;
mod template;

pub use slots::{
    AttemptSlots, NoSlots, RejectedSlots, SchemaSlots, SystemSlots, ToolBudgetSlots, TwoCallsSlots,
    UserStepSlots,
};

use ktd_masking::{Level, MaskSettings, Mode, Numeric, Prompt};
use sha2::{Digest, Sha256};
use template::Template;

macro_rules! templates {
    ($($template:ident = $file:literal;)*) => {
        $(static $template: Template =
            Template::new($file, include_str!(concat!("../templates/", $file, ".md")));)*
        /// Every template, in the order of the hash.
        static ALL: &[&Template] = &[$(&$template),*];
    };
}

templates! {
    CLOSE_RESEARCH = "close_research";
    FACTORS = "factors";
    FEEDBACK_NO_CALL = "feedback_no_call";
    FEEDBACK_OTHER_TOOL = "feedback_other_tool";
    FEEDBACK_REJECTED = "feedback_rejected";
    FEEDBACK_SCHEMA = "feedback_schema";
    FEEDBACK_TOOL_BUDGET = "feedback_tool_budget";
    FEEDBACK_TWO_CALLS = "feedback_two_calls";
    LEVEL_BLINDED = "level_blinded";
    LEVEL_BRIGHT = "level_bright";
    LEVEL_DATE_BLIND = "level_date_blind";
    LEVEL_STOCK_BLIND = "level_stock_blind";
    NUMERIC_EXACT = "numeric_exact";
    NUMERIC_RESCALED = "numeric_rescaled";
    RULES = "rules";
    SUBMISSION = "submission";
    SYSTEM_FIXED_CANDIDATE = "system_fixed_candidate";
    SYSTEM_MEMORY_ONLY = "system_memory_only";
    SYSTEM_OPEN_RESEARCH = "system_open_research";
    USER_STEP = "user_step";
}

/// The system message of a mode at a mask profile.
#[must_use]
pub fn system(mode: Mode, settings: MaskSettings, slots: &SystemSlots) -> Prompt {
    system_parts(mode, settings)
        .into_iter()
        .fold(Prompt::new(), |prompt, part| {
            part.append(prompt, slots).text("\n")
        })
}

fn system_parts(mode: Mode, settings: MaskSettings) -> Vec<&'static Template> {
    let mut parts = match mode {
        Mode::MemoryOnly => vec![&SYSTEM_MEMORY_ONLY],
        Mode::FixedCandidate => vec![&SYSTEM_FIXED_CANDIDATE, &FACTORS],
        Mode::OpenResearch => vec![&SYSTEM_OPEN_RESEARCH, &FACTORS],
    };
    parts.push(&RULES);
    parts.push(match settings.numeric {
        Numeric::Exact => &NUMERIC_EXACT,
        Numeric::Rescaled => &NUMERIC_RESCALED,
    });
    parts.push(match settings.level {
        Level::Bright => &LEVEL_BRIGHT,
        Level::StockBlind => &LEVEL_STOCK_BLIND,
        Level::DateBlind => &LEVEL_DATE_BLIND,
        Level::Blinded => &LEVEL_BLINDED,
    });
    parts
}

/// The message that opens a step; its last line is the state.
#[must_use]
pub fn user_step(slots: &UserStepSlots) -> Prompt {
    USER_STEP.append(Prompt::new(), slots)
}

/// Opens the submission phase.
#[must_use]
pub fn submission() -> Prompt {
    SUBMISSION.append(Prompt::new(), &NoSlots {})
}

/// Ends the research phase before the submission phase opens.
#[must_use]
pub fn close_research() -> Prompt {
    CLOSE_RESEARCH.append(Prompt::new(), &NoSlots {})
}

/// The reply to a submission phase answered without a call.
#[must_use]
pub fn feedback_no_call(slots: &AttemptSlots) -> Prompt {
    FEEDBACK_NO_CALL.append(Prompt::new(), slots)
}

/// The reply to a submission phase answered with another tool.
#[must_use]
pub fn feedback_other_tool(slots: &AttemptSlots) -> Prompt {
    FEEDBACK_OTHER_TOOL.append(Prompt::new(), slots)
}

/// The reply to more than one call in the submission phase.
#[must_use]
pub fn feedback_two_calls(slots: &TwoCallsSlots) -> Prompt {
    FEEDBACK_TWO_CALLS.append(Prompt::new(), slots)
}

/// The reply to a submission that breaks the schema.
#[must_use]
pub fn feedback_schema(slots: &SchemaSlots) -> Prompt {
    FEEDBACK_SCHEMA.append(Prompt::new(), slots)
}

/// The reply to a submission with rejected orders, where the session lets the model mend them.
#[must_use]
pub fn feedback_rejected(slots: &RejectedSlots) -> Prompt {
    FEEDBACK_REJECTED.append(Prompt::new(), slots)
}

/// The reply to a tool call beyond the step's budget.
#[must_use]
pub fn feedback_tool_budget(slots: &ToolBudgetSlots) -> Prompt {
    FEEDBACK_TOOL_BUDGET.append(Prompt::new(), slots)
}

/// SHA-256 over the names and bytes of all templates, in hexadecimal: the prompt hash of a bundle's header.
#[must_use]
pub fn hash() -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"ktd prompts 1\0");
    for template in ALL {
        hasher.update(template.name.as_bytes());
        hasher.update(b"\0");
        // The length keeps two neighbours from trading bytes.
        hasher.update(template.text.len().to_string().as_bytes());
        hasher.update(b"\0");
        hasher.update(template.text.as_bytes());
    }
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        for nibble in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(nibble), 16));
        }
        text
    })
}

#[cfg(test)]
mod tests;
