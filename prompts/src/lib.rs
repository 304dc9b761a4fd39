//! Every text of the harness for a model, compiled in and hashed.
//!
//! A message is template text with payloads in its slots; there is no other way to put anything into one. System
//! messages vary with the mode and the numbers of the rules alone, never with a mask, a seed or a day: what a mask
//! means stands in the message that opens a step.
//!
//! Knows: masking. Never knows: the market, tools, agents, files.

mod alpha;
mod attack;
pub mod factor_code;
mod force_check;
mod slots;
pub mod strategy_code;
mod template;

pub use alpha::{
    JudgePrompt, alpha_as_json, alpha_as_text, alpha_by_call, alpha_feedback_form, alpha_feedback_no_call,
    alpha_feedback_no_object, alpha_feedback_not_json, alpha_feedback_refusal, alpha_feedback_truncated,
    alpha_hash, alpha_judge_question, alpha_judge_system, alpha_miner_question, alpha_miner_system,
};
pub use attack::{
    attack_as_json, attack_as_text, attack_by_call, attack_feedback_form, attack_feedback_no_call,
    attack_feedback_no_object, attack_feedback_not_json, attack_feedback_refusal, attack_feedback_truncated,
    attack_hash, attack_linked, attack_stock, attack_system,
};
pub use force_check::{ForceCheckAnswer, force_check_question, force_check_system};
pub use slots::{
    AttemptSlots, ForceSlots, FormulasSlots, LinkedSlots, MinerRoundSlots, MinerRulesSlots, NoSlots,
    NotJsonSlots, OperatorSlots, ProblemSlots, RejectedSlots, SchemaSlots, StockSlots, SystemSlots,
    TooLargeSlots, ToolBudgetSlots, ToolSlots, TwoCallsSlots, UserStepSlots,
};

use ktd_masking::{Level, MaskSettings, Mode, Numeric, Prompt, hex};
use sha2::{Digest, Sha256};
use std::sync::OnceLock;
use template::{Template, templates};

templates! {
    CLOSE_RESEARCH = include_str!("../templates/close_research.md");
    DATA = include_str!("../templates/data.md");
    FACTORS = include_str!("../templates/factors.md");
    /// The reply to a submission phase answered with a call written as text.
    fn feedback_call_in_text(AttemptSlots): FEEDBACK_CALL_IN_TEXT = include_str!("../templates/feedback_call_in_text.md");
    /// The reply to a submission that is not JSON.
    fn feedback_not_json(NotJsonSlots): FEEDBACK_NOT_JSON = include_str!("../templates/feedback_not_json.md");
    /// The reply to a submission phase answered without a call.
    fn feedback_no_call(AttemptSlots): FEEDBACK_NO_CALL = include_str!("../templates/feedback_no_call.md");
    /// The reply to a submission phase without tools (levels F3 and F4) answered without one JSON object.
    fn feedback_no_object(AttemptSlots): FEEDBACK_NO_OBJECT = include_str!("../templates/feedback_no_object.md");
    /// The reply to a submission phase answered with another tool.
    fn feedback_other_tool(AttemptSlots): FEEDBACK_OTHER_TOOL = include_str!("../templates/feedback_other_tool.md");
    /// The reply to a submission phase that was declined or filtered.
    fn feedback_refusal(AttemptSlots): FEEDBACK_REFUSAL = include_str!("../templates/feedback_refusal.md");
    /// The reply to a submission with rejected orders, where the session lets the model correct them.
    fn feedback_rejected(RejectedSlots): FEEDBACK_REJECTED = include_str!("../templates/feedback_rejected.md");
    /// The reply to a submission that breaks the schema.
    fn feedback_schema(SchemaSlots): FEEDBACK_SCHEMA = include_str!("../templates/feedback_schema.md");
    /// The reply to a tool call beyond the step's budget.
    fn feedback_tool_budget(ToolBudgetSlots): FEEDBACK_TOOL_BUDGET = include_str!("../templates/feedback_tool_budget.md");
    /// The reply to a submission that is too large to be read.
    fn feedback_too_large(TooLargeSlots): FEEDBACK_TOO_LARGE = include_str!("../templates/feedback_too_large.md");
    /// The reply to a submission phase whose answer was cut off at its longest length.
    fn feedback_truncated(AttemptSlots): FEEDBACK_TRUNCATED = include_str!("../templates/feedback_truncated.md");
    /// The reply to more than one call in the submission phase.
    fn feedback_two_calls(TwoCallsSlots): FEEDBACK_TWO_CALLS = include_str!("../templates/feedback_two_calls.md");
    FORCE_AUTO = include_str!("../templates/force_auto.md");
    /// Opens the submission phase where there are no tools and the vendor holds the answer to JSON (level F3).
    fn force_json(ForceSlots): FORCE_JSON = include_str!("../templates/force_json.md");
    /// Opens the submission phase where there are no tools and one JSON object is taken from plain text (level F4).
    fn force_text(ForceSlots): FORCE_TEXT = include_str!("../templates/force_text.md");
    LEVEL_BLINDED = include_str!("../templates/level_blinded.md");
    LEVEL_BRIGHT = include_str!("../templates/level_bright.md");
    LEVEL_DATE_BLIND = include_str!("../templates/level_date_blind.md");
    LEVEL_STOCK_BLIND = include_str!("../templates/level_stock_blind.md");
    NUMERIC_BANDED = include_str!("../templates/numeric_banded.md");
    NUMERIC_BANDED_FIVE = include_str!("../templates/numeric_banded_five.md");
    NUMERIC_EXACT = include_str!("../templates/numeric_exact.md");
    NUMERIC_RANKED = include_str!("../templates/numeric_ranked.md");
    NUMERIC_RESCALED = include_str!("../templates/numeric_rescaled.md");
    NUMERIC_ROUNDED_HALF = include_str!("../templates/numeric_rounded_half.md");
    NUMERIC_ROUNDED_TENTH = include_str!("../templates/numeric_rounded_tenth.md");
    RULES = include_str!("../templates/rules.md");
    SUBMISSION = include_str!("../templates/submission.md");
    SYSTEM_FIXED_CANDIDATE = include_str!("../templates/system_fixed_candidate.md");
    SYSTEM_MEMORY_ONLY = include_str!("../templates/system_memory_only.md");
    SYSTEM_OPEN_RESEARCH = include_str!("../templates/system_open_research.md");
    USER_STEP = include_str!("../templates/user_step.md");
}

/// The system message of a mode: the same bytes at every mask, seed and day.
#[must_use]
pub fn system(mode: Mode, slots: &SystemSlots) -> Prompt {
    system_parts(mode)
        .into_iter()
        .fold(Prompt::new(), |prompt, part| {
            part.append(prompt, slots).text("\n")
        })
}

fn system_parts(mode: Mode) -> Vec<&'static Template> {
    match mode {
        Mode::MemoryOnly => vec![&SYSTEM_MEMORY_ONLY, &DATA, &RULES],
        Mode::FixedCandidate => vec![&SYSTEM_FIXED_CANDIDATE, &DATA, &FACTORS, &RULES],
        Mode::OpenResearch => vec![&SYSTEM_OPEN_RESEARCH, &DATA, &FACTORS, &RULES],
    }
}

/// The message that opens a step: how the mask shows things, then the state on a line of its own.
///
/// What the mask means stands first, so that a vendor's prompt cache holds up to there over the days of an episode.
#[must_use]
pub fn user_step(settings: MaskSettings, slots: &UserStepSlots) -> Prompt {
    let opening = mask_parts(settings)
        .into_iter()
        .fold(Prompt::new(), |prompt, part| {
            part.append(prompt, &NoSlots {}).text("\n\n")
        });
    USER_STEP.append(opening, slots)
}

/// Opening of each message that begins a step under a mask: all its text before the state.
#[must_use]
pub fn step_opening(settings: MaskSettings) -> String {
    let mut opening = String::new();
    for part in mask_parts(settings) {
        opening.push_str(part.text_before_slots());
        opening.push_str("\n\n");
    }
    opening.push_str(USER_STEP.text_before_slots());
    opening
}

/// The message that opens a step from its explanation of the mask on: where a step has no research, what asks for the
/// submission at the levels F2 to F4 stands before it.
#[must_use]
pub fn without_force(message: &str) -> &str {
    [&FORCE_AUTO, &FORCE_JSON, &FORCE_TEXT]
        .into_iter()
        .find_map(|template| template.strip_from(message))
        .map_or(message, str::trim_start)
}

/// Texts of the system message of a mode that stand between its settings, in order: the same in every experiment.
#[must_use]
pub fn system_texts(mode: Mode) -> Vec<&'static str> {
    let parts = system_parts(mode);
    parts.into_iter().flat_map(Template::texts).collect()
}

fn mask_parts(settings: MaskSettings) -> [&'static Template; 2] {
    let level = match settings.level {
        Level::Bright => &LEVEL_BRIGHT,
        Level::StockBlind => &LEVEL_STOCK_BLIND,
        Level::DateBlind => &LEVEL_DATE_BLIND,
        Level::Blinded => &LEVEL_BLINDED,
    };
    let numeric = match settings.numeric {
        Numeric::Exact => &NUMERIC_EXACT,
        Numeric::Rescaled => &NUMERIC_RESCALED,
        Numeric::RoundedTenth => &NUMERIC_ROUNDED_TENTH,
        Numeric::RoundedHalf => &NUMERIC_ROUNDED_HALF,
        Numeric::Ranked => &NUMERIC_RANKED,
        Numeric::BandedFive => &NUMERIC_BANDED_FIVE,
        Numeric::Banded => &NUMERIC_BANDED,
    };
    [level, numeric]
}

/// Opens the submission phase where the call of `submit_action` is forced (levels F0 and F1).
#[must_use]
pub fn submission() -> Prompt {
    SUBMISSION.append(Prompt::new(), &NoSlots {})
}

/// Opens the submission phase where only `submit_action` is listed and the choice is free (level F2).
#[must_use]
pub fn force_auto() -> Prompt {
    FORCE_AUTO.append(Prompt::new(), &NoSlots {})
}

/// Ends the research phase before the submission phase opens.
#[must_use]
pub fn close_research() -> Prompt {
    CLOSE_RESEARCH.append(Prompt::new(), &NoSlots {})
}

/// SHA-256 over the names and bytes of all templates, in hexadecimal: the prompt hash of a bundle's header.
#[must_use]
pub fn hash() -> String {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| hash_of(b"ktd prompts 1\0", ALL.iter().copied()))
        .clone()
}

fn hash_of<'a>(tag: &[u8], templates: impl Iterator<Item = &'a Template>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(tag);
    for template in templates {
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
