//! What a probe asks: the request of a submission at one force level, about numbers instead of stocks.

use ktd_agents::{
    Attempt, ChatRequest, ForceLevel, Sampling, Session, SessionLimits, SessionTexts, StepPlan,
    SubmissionEffect, ThinkingPolicy,
};
use ktd_experiment::config::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_masking::{Payload, Prompt, Schema, ToolSpec};
use ktd_prompts::{ForceCheckAnswer, force_check_question, force_check_system};
use schemars::JsonSchema;

/// The name of the tool that submits: that of an episode, so that the same is measured.
pub(super) const SUBMIT_CHOICE: &str = ktd_agents::SUBMIT_ACTION;

/// Most tokens that a probe's call may generate.
pub const TINY_OUTPUT_TOKENS: u32 = 64;
/// The same where the model thinks first: its thoughts count.
pub const TINY_THINKING_TOKENS: u32 = 1_024;

// The arguments of the fictitious submission. A doc comment here would become part of what the model reads.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the schema generator alone")]
struct Choice {
    /// The larger number.
    choice: i32,
    /// Why, in a few words.
    reason: String,
}

// The arguments of the tool that is listed beside it, so that a call by name shows that the name was heard.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the schema generator alone")]
struct Notion {
    /// What is to be remembered.
    text: String,
}

/// The tool that must not be called.
fn note_tool() -> ToolSpec {
    ToolSpec {
        name: "take_note",
        description: "Remembers a short text for later.",
        parameters: Schema::of::<Notion>(),
    }
}

/// The tool that submits a choice.
fn submission_tool() -> ToolSpec {
    ToolSpec {
        name: SUBMIT_CHOICE,
        description: "Submits the larger of two numbers. Example: {\"choice\": 1, \"reason\": \"it is larger\"}",
        parameters: Schema::of::<Choice>(),
    }
}

/// Names of the tools that a request of this level lists.
pub(super) const fn tool_names(level: ForceLevel) -> &'static [&'static str] {
    match level {
        ForceLevel::Named => &["take_note", SUBMIT_CHOICE],
        ForceLevel::Required | ForceLevel::Auto => &[SUBMIT_CHOICE],
        ForceLevel::Json | ForceLevel::Text => &[],
    }
}

/// Whether the model may think while it submits.
#[must_use]
pub const fn thinks_while_submitting(provider: &Provider) -> bool {
    match provider.thinking {
        ThinkingPolicy::VendorDefault => provider.dialect.thinking.by_default,
        ThinkingPolicy::Always => true,
        ThinkingPolicy::Never | ThinkingPolicy::ThinkThenForce => false,
    }
}

/// Most tokens that a call to this endpoint may generate.
pub(super) const fn output_tokens(provider: &Provider) -> u32 {
    if thinks_while_submitting(provider) {
        TINY_THINKING_TOKENS
    } else {
        TINY_OUTPUT_TOKENS
    }
}

/// The request of a submission forced at `level`, made as an episode makes it; `None` never happens.
pub(super) fn request(
    (agent, provider): (&AgentConfig, &Provider),
    level: ForceLevel,
    answer: ForceCheckAnswer,
) -> Option<ChatRequest> {
    let plan = StepPlan {
        model: agent.model_name().to_owned(),
        sampling: Sampling {
            temperature: agent.temperature(),
            seed: None,
            max_output_tokens: Some(output_tokens(provider)),
        },
        tools: [note_tool()].into(),
        submission: submission_tool(),
        force: level,
        thinking: provider.thinking,
        cache_key: None,
        system: force_check_system(),
        user: force_check_question(answer),
        texts: SessionTexts {
            close: Prompt::new(),
            budget_used_up: Payload::null(),
            not_yet: Payload::null(),
            feedback: no_feedback,
        },
        limits: SessionLimits {
            max_tool_calls: 0,
            schema_retries: 0,
        },
    };
    match Session::submission(plan).next() {
        SubmissionEffect::Ask(request) => Some(request),
        SubmissionEffect::Submit { .. } | SubmissionEffect::End(_) => None,
    }
}

/// A probe asks once and feeds nothing back.
const fn no_feedback(_: Attempt) -> Payload {
    Payload::null()
}
