//! A conversation that ends in a submission, without I/O.
//!
//! What is submitted is the caller's affair: [`StepPlan::submission`] names the tool and its schema, and the session
//! hands out its raw arguments to be judged. They may be orders, a guess, a score or a program.
//!
//! A [`Session<Research>`] hands out requests and tool calls; closing it gives a [`Session<Submission>`], which
//! hands out requests and submissions until one is accepted or the retries are used up. The phase is a type:
//! a submission cannot come out of research. The caller sends requests, runs tools and judges submissions; an
//! infrastructure fault never gets here, for `next` gives the same request again.

mod mistakes;
mod plan;
mod research;
mod submission;
mod tally;

pub use mistakes::Mistakes;
pub use plan::{Attempt, SessionLimits, SessionTexts, StepPlan};
pub use research::{Research, ResearchEffect, ToolAnswer};
pub use submission::{Outcome, Submission, SubmissionEffect};
pub use tally::Tally;

use crate::chat::{ChatRequest, Message, ModelTurn, ReplyFormat, StopReason, Thinking, ToolChoice};
use crate::force::{ForceLevel, ThinkingPolicy};
use crate::model_fault::ModelFault;
use crate::words::{Masked, Words};
use ktd_masking::ToolSpec;
use std::sync::Arc;

/// A step in the phase `P`: [`Research`] or [`Submission`]; of [`Masked`] text unless other words are named.
#[derive(Debug, Clone)]
pub struct Session<P, W: Words = Masked> {
    talk: Talk<W>,
    phase: P,
}

/// The session was fed something it had not asked for: a mistake of the caller, never of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// A turn came while no request was open.
    #[error("a turn was fed while the session waited for something else")]
    NoRequestOpen,
    /// A tool's answer came while no call was open.
    #[error("a tool's answer was fed while no tool call was open")]
    NoCallOpen,
    /// A judgement came while no submission was open.
    #[error("a submission was judged while none was open")]
    NoSubmissionOpen,
    /// Research was closed while a request or a call was open.
    #[error("research was closed while a request or a tool call was open")]
    ResearchOpen,
    /// The outcome was asked for before the step ended.
    #[error("the outcome was asked for before the step ended")]
    NotEnded,
}

impl SessionError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        "feed the session what its last `next` asked for"
    }
}

/// What both phases share: the plan, the conversation so far, and the counters.
#[derive(Debug, Clone)]
struct Talk<W: Words> {
    plan: StepPlan<W>,
    /// The plan's tools, then the one that submits.
    all_tools: Arc<[ToolSpec]>,
    messages: Vec<Message<W>>,
    tally: Tally,
}

impl<W: Words> Talk<W> {
    fn open(plan: StepPlan<W>) -> Self {
        let messages = vec![
            Message::System(plan.system.clone()),
            Message::User(plan.user.clone()),
        ];
        let all_tools = plan.tools.iter().chain([&plan.submission]).cloned().collect();
        Self {
            plan,
            all_tools,
            messages,
            tally: Tally::default(),
        }
    }

    /// The request of the research phase: every tool, a free choice.
    fn research_request(&self) -> ChatRequest<W> {
        let thinking = match self.plan.thinking {
            ThinkingPolicy::VendorDefault => Thinking::VendorDefault,
            ThinkingPolicy::Always | ThinkingPolicy::ThinkThenForce => Thinking::On,
            ThinkingPolicy::Never => Thinking::Off,
        };
        ChatRequest {
            model: self.plan.model.clone(),
            messages: self.messages.clone(),
            tools: Arc::clone(&self.all_tools),
            tool_choice: ToolChoice::Auto,
            reply_format: ReplyFormat::Free,
            thinking,
            sampling: self.plan.sampling,
            cache_key: self.plan.cache_key.clone(),
        }
    }

    /// The request of the submission phase, forced as the plan says.
    fn submission_request(&self) -> ChatRequest<W> {
        let submission = &self.plan.submission;
        let alone = || Arc::from([submission.clone()]);
        let all = || Arc::clone(&self.all_tools);
        let (tools, tool_choice) = match self.plan.force {
            ForceLevel::Named => (all(), ToolChoice::Named(submission.name)),
            ForceLevel::Required => (alone(), ToolChoice::Required),
            ForceLevel::Auto => (alone(), ToolChoice::Auto),
            ForceLevel::Json | ForceLevel::Text => (all(), ToolChoice::Withdrawn),
        };
        let reply_format = match self.plan.force {
            ForceLevel::Json => ReplyFormat::Arguments(submission.clone()),
            ForceLevel::Named | ForceLevel::Required | ForceLevel::Auto | ForceLevel::Text => {
                ReplyFormat::Free
            }
        };
        let research = self.research_request();
        let thinking = match self.plan.thinking {
            ThinkingPolicy::ThinkThenForce => Thinking::Off,
            ThinkingPolicy::VendorDefault | ThinkingPolicy::Always | ThinkingPolicy::Never => {
                research.thinking
            }
        };
        ChatRequest {
            tools,
            tool_choice,
            reply_format,
            thinking,
            ..research
        }
    }

    /// Keeps `turn` for the next request. A turn with nothing in it is left out: vendors reject empty messages.
    fn keep(&mut self, turn: ModelTurn) {
        self.tally.turns += 1;
        let dropped = u64::try_from(turn.calls_dropped()).unwrap_or(u64::MAX);
        self.tally.tool_calls_dropped = self.tally.tool_calls_dropped.saturating_add(dropped);
        if !turn.is_blank() {
            self.messages.push(Message::Assistant(Arc::new(turn)));
        }
    }
}

impl<P, W: Words> Session<P, W> {
    /// What has been counted so far.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.talk.tally
    }

    /// The conversation so far, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message<W>] {
        &self.talk.messages
    }
}

/// The fault of a turn that was cut or declined instead of finished.
const fn fault_of_stop(stop: StopReason) -> Option<ModelFault> {
    match stop {
        StopReason::Length => Some(ModelFault::Truncated),
        StopReason::ContentFilter | StopReason::Refusal => Some(ModelFault::Refusal),
        StopReason::MalformedCall => Some(ModelFault::ArgumentsMalformed),
        StopReason::Stop | StopReason::ToolCalls | StopReason::Other => None,
    }
}

#[cfg(test)]
mod tests;
