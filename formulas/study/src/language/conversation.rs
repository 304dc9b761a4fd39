//! One question to a model: from its first request to an answer, or to the reason why there is none.

use super::answer_fault::{AnswerFault, counted};
use super::counts::{LossKind, loss_of};
use crate::FormulaStudyError;
use ktd_agents::{
    Attempt, ForceLevel, Mistakes, ModelFault, Outcome, Session, SessionLimits, SessionTexts, StepPlan,
    Submission, SubmissionEffect,
};
use ktd_client::NothingHidden;
use ktd_client::conversations::{Answered, Conversations, NOT_ASKED};
use ktd_masking::{Payload, Prompt, ToolSpec};
use ktd_prompts::{AttemptSlots, ForceSlots, ProblemSlots, ToolSlots};

/// What a conversation is opened with.
#[derive(Debug, Clone)]
pub(crate) struct FormulaQuestion {
    /// The place of its requests among the exchanges, from 1.
    pub(crate) step: usize,
    /// What it is, for errors.
    pub(crate) what: String,
    pub(crate) tool: ToolSpec,
    pub(crate) system: Prompt,
    pub(crate) question: Prompt,
}

/// Conversations with one model about formulas.
pub(crate) struct FormulaConversations<'a> {
    pub(crate) asking: &'a Conversations<'a>,
    /// How often a bad answer may be corrected.
    pub(crate) schema_retries: u32,
}

/// How a conversation ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuestionEnd<T> {
    pub(crate) answer: Result<T, LostAnswer>,
    /// Mistakes of the model on the way, in order.
    pub(crate) mistakes: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LostAnswer {
    pub(crate) kind: LossKind,
    /// A stable word.
    pub(crate) reason: String,
}

impl LostAnswer {
    fn of_mistake(code: &str) -> Self {
        Self {
            kind: loss_of(code),
            reason: code.to_owned(),
        }
    }

    /// What nobody could answer, or nobody was asked.
    fn unanswered(reason: String) -> Self {
        let kind = if reason == NOT_ASKED {
            LossKind::NotAsked
        } else {
            LossKind::Fault
        };
        Self { kind, reason }
    }
}

impl FormulaConversations<'_> {
    /// Holds one conversation; `read` judges the arguments of an answer. `None` when it is left for a later run, because
    /// another one was stopped.
    pub(crate) async fn hold<T>(
        &self,
        question: FormulaQuestion,
        read: &(dyn Fn(&str) -> Result<T, AnswerFault> + Sync),
    ) -> Result<Option<QuestionEnd<T>>, FormulaStudyError> {
        let what = question.what.clone();
        let ended = self.converse(question, read).await;
        if ended.is_err() {
            self.asking.stop();
        }
        ended.map_err(|source| FormulaStudyError::Question {
            agent: self.asking.model().id().to_owned(),
            what,
            source: Box::new(source),
        })
    }

    async fn converse<T>(
        &self,
        question: FormulaQuestion,
        read: &(dyn Fn(&str) -> Result<T, AnswerFault> + Sync),
    ) -> Result<Option<QuestionEnd<T>>, FormulaStudyError> {
        let (step, tool) = (question.step, question.tool.name);
        let client = self.asking.client(&NothingHidden, step);
        let mut session = self.session(question);
        let mut mistakes = Mistakes::default();
        let mut ordinal = 0;
        let mut accepted = None;
        let answer = loop {
            let mut detail = None;
            match session.next() {
                SubmissionEffect::Ask(request) => {
                    let place = (step, ordinal);
                    match self.asking.ask(&client, place, &request, Some(tool)).await? {
                        Answered::Turn(turn) => session.feed_turn(*turn)?,
                        Answered::Nothing(reason) => break Err(LostAnswer::unanswered(reason)),
                        Answered::Stopped => return Ok(None),
                    }
                    ordinal += 1;
                }
                SubmissionEffect::Submit { arguments } => match read(&arguments) {
                    Ok(answer) => {
                        accepted = Some(answer);
                        session.accept()?;
                    }
                    Err(fault) => {
                        detail = Some(fault.code());
                        session.reject(&fault.feedback(session.attempt()))?;
                    }
                },
                SubmissionEffect::End(Outcome::Submitted { .. } | Outcome::Fallback { .. }) => {
                    let last = mistakes.last().map(LostAnswer::of_mistake);
                    break accepted
                        .ok_or_else(|| last.unwrap_or_else(|| LostAnswer::unanswered(NOT_ASKED.to_owned())));
                }
            }
            mistakes.count(session.tally(), detail);
        };
        let mistakes = mistakes.into_codes();
        Ok(Some(QuestionEnd { answer, mistakes }))
    }

    fn session(&self, question: FormulaQuestion) -> Session<Submission> {
        let model = self.asking.model();
        let (agent, provider) = (&model.agent, &model.provider);
        let how = how_to_answer(provider.force, &question.tool);
        Session::submission(StepPlan {
            model: agent.model_name().to_owned(),
            sampling: agent.sampling(model.seed),
            tools: [].into(),
            submission: question.tool,
            force: provider.force,
            thinking: provider.thinking,
            cache_key: Some(format!("{}|alpha", agent.id)),
            system: question.system,
            user: question.question.text("\n").append(how),
            texts: SessionTexts {
                close: Prompt::new(),
                budget_used_up: Payload::null(),
                not_yet: Payload::null(),
                feedback: no_answer,
            },
            limits: SessionLimits {
                max_tool_calls: 0,
                schema_retries: self.schema_retries,
            },
        })
    }
}

/// How to answer. A weaker level has to say what a stronger one enforces.
fn how_to_answer(force: ForceLevel, tool: &ToolSpec) -> Prompt {
    let schema = || ForceSlots {
        action_schema: Payload::from(&tool.parameters),
    };
    match force {
        ForceLevel::Named | ForceLevel::Required | ForceLevel::Auto => {
            let tool = Payload::label(tool.name);
            ktd_prompts::alpha_by_call(&ToolSlots { tool })
        }
        ForceLevel::Json => ktd_prompts::alpha_as_json(&schema()),
        ForceLevel::Text => ktd_prompts::alpha_as_text(&schema()),
    }
}

/// The reply to a turn that is no submission.
fn no_answer(failed: Attempt) -> Payload {
    let (attempt, attempts) = (counted(failed.number), counted(failed.of));
    let slots = AttemptSlots { attempt, attempts };
    let prompt = match failed.fault {
        ModelFault::Refusal => ktd_prompts::alpha_feedback_refusal(&slots),
        ModelFault::Truncated => ktd_prompts::alpha_feedback_truncated(&slots),
        ModelFault::ArgumentsTooLarge => ktd_prompts::alpha_feedback_form(&ProblemSlots {
            problem: Payload::label("it is far too large"),
            attempt: slots.attempt,
            attempts: slots.attempts,
        }),
        ModelFault::BadToolCall
        | ModelFault::NoCall
        | ModelFault::UnknownTool
        | ModelFault::WrongTool
        | ModelFault::MultipleCalls
        | ModelFault::TooManyCalls
        | ModelFault::ArgumentsMalformed
        | ModelFault::Rejected
        | ModelFault::CallInText
        | ModelFault::NoAnswer => {
            if failed.force.is_by_call() {
                ktd_prompts::alpha_feedback_no_call(&slots)
            } else {
                ktd_prompts::alpha_feedback_no_object(&slots)
            }
        }
    };
    prompt.into()
}
