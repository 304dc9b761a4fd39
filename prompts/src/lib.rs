//! Every text the harness says to a model, compiled in and hashed.
//!
//! A message is template text with payloads in its slots; there is no other way to put anything into one. System
//! messages vary with settings alone (mode, mask level, numbers of the rules), never with a day or a seed.
//!
//! Knows: masking. Never knows: the market, tools, agents, files.

mod probe;
mod slots;
mod template;

pub use probe::{ProbeAnswer, probe_question, probe_system};
pub use slots::{
    AttemptSlots, NoSlots, RejectedSlots, SchemaSlots, SystemSlots, ToolBudgetSlots, TwoCallsSlots,
    UserStepSlots,
};

use ktd_masking::{Level, MaskSettings, Mode, Numeric, Prompt, hex};
use sha2::{Digest, Sha256};
use template::Template;

macro_rules! templates {
    ($($template:ident = $text:expr;)*) => {
        $(static $template: Template = Template::new(stringify!($template), $text);)*
        /// Every template, in the order of the hash.
        static ALL: &[&Template] = &[$(&$template),*];
    };
}

templates! {
    CLOSE_RESEARCH = include_str!("../templates/close_research.md");
    FACTORS = include_str!("../templates/factors.md");
    FEEDBACK_NO_CALL = include_str!("../templates/feedback_no_call.md");
    FEEDBACK_OTHER_TOOL = include_str!("../templates/feedback_other_tool.md");
    FEEDBACK_REJECTED = include_str!("../templates/feedback_rejected.md");
    FEEDBACK_SCHEMA = include_str!("../templates/feedback_schema.md");
    FEEDBACK_TOOL_BUDGET = include_str!("../templates/feedback_tool_budget.md");
    FEEDBACK_TWO_CALLS = include_str!("../templates/feedback_two_calls.md");
    LEVEL_BLINDED = include_str!("../templates/level_blinded.md");
    LEVEL_BRIGHT = include_str!("../templates/level_bright.md");
    LEVEL_DATE_BLIND = include_str!("../templates/level_date_blind.md");
    LEVEL_STOCK_BLIND = include_str!("../templates/level_stock_blind.md");
    NUMERIC_EXACT = include_str!("../templates/numeric_exact.md");
    NUMERIC_RESCALED = include_str!("../templates/numeric_rescaled.md");
    RULES = include_str!("../templates/rules.md");
    SUBMISSION = include_str!("../templates/submission.md");
    SYSTEM_FIXED_CANDIDATE = include_str!("../templates/system_fixed_candidate.md");
    SYSTEM_MEMORY_ONLY = include_str!("../templates/system_memory_only.md");
    SYSTEM_OPEN_RESEARCH = include_str!("../templates/system_open_research.md");
    USER_STEP = include_str!("../templates/user_step.md");
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
    hex(&hasher.finalize())
}

#[cfg(test)]
mod tests;
