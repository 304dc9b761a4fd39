//! What a step is opened with.

use crate::chat::Sampling;
use crate::force::{ForceLevel, ThinkingPolicy};
use crate::model_fault::ModelFault;
use crate::words::{Masked, Words};
use ktd_masking::ToolSpec;
use std::sync::Arc;

/// Everything one step says and allows, decided before the first request.
#[derive(Debug, Clone)]
pub struct StepPlan<W: Words = Masked> {
    /// The provider's name of the model.
    pub model: String,
    /// How replies are sampled.
    pub sampling: Sampling,
    /// The tools that research may call.
    pub tools: Arc<[ToolSpec]>,
    /// The tool that submits. It is shown behind `tools`, in research as in a submission forced by name, so that
    /// provider caches hold; the weaker levels show it alone, or nothing.
    pub submission: ToolSpec,
    /// How the submission is forced.
    pub force: ForceLevel,
    /// When the model thinks.
    pub thinking: ThinkingPolicy,
    /// Groups requests that share a prefix, for providers that take such a hint.
    pub cache_key: Option<String>,
    /// The standing instructions.
    pub system: W::Prompt,
    /// The message that opens the step.
    pub user: W::Prompt,
    /// What the session says on its own account.
    pub texts: SessionTexts<W>,
    /// How long the step may go on.
    pub limits: SessionLimits,
}

/// The texts that a session says on its own account. It has none of its own: they are given in, of the kind that the
/// rest of the conversation is.
#[derive(Debug, Clone)]
pub struct SessionTexts<W: Words = Masked> {
    /// The user message that ends research and opens the submission.
    pub close: W::Prompt,
    /// The answer to a tool call beyond `max_tool_calls`.
    pub budget_used_up: W::Payload,
    /// The answer to a submission during research: it is taken as the wish to submit, not as the submission.
    pub not_yet: W::Payload,
    /// The feedback on a turn that is no submission.
    pub feedback: fn(Attempt) -> W::Payload,
}

/// A submission turn that was no submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// What was wrong with it.
    pub fault: ModelFault,
    /// How the submission was forced.
    pub force: ForceLevel,
    /// How many calls it made, those that were dropped included.
    pub calls: usize,
    /// Which attempt it was, 1-based.
    pub number: u32,
    /// Attempts in all.
    pub of: u32,
}

/// How long a step may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// Tool calls handed out in research, at most.
    pub max_tool_calls: u32,
    /// Submissions that may be tried again after a fault, at most.
    pub schema_retries: u32,
}
