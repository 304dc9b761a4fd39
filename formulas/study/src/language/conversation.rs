//! One question to a model: from its first request to an answer, or to the reason why there is none.

use super::answer_fault::{AnswerFault, counted};
use super::counts::LossKind;
use ktd_agents::{
    Attempt, ForceLevel, Mistakes, ModelFault, Outcome, Session, SessionError, SessionLimits, SessionTexts,
    StepPlan, Submission, SubmissionEffect,
};
use ktd_client::NothingHidden;
use ktd_client::conversations::{Answered, Conversations, NOT_ASKED};
use ktd_masking::{Payload, Prompt, ToolSpec};
use ktd_prompts::{AttemptSlots, ForceSlots, ProblemSlots, ToolSlots};
use ktd_study::StudyError;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QuestionEnd<T> {
    /// None where it is lost.
    pub(crate) answer: Option<T>,
    /// By whose fault.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) lost: Option<LossKind>,
    /// A stable word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) reason: Option<String>,
    /// Mistakes of the model on the way, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) mistakes: Vec<String>,
}

impl<T> QuestionEnd<T> {
    fn of(answer: Option<T>, unanswered: Option<&str>, mistakes: Mistakes) -> Self {
        let lost = match (&answer, unanswered, mistakes.last()) {
            (Some(_), _, _) => None,
            // What nobody could answer, or nobody was asked.
            (None, Some(reason), _) if reason != NOT_ASKED => Some((LossKind::Fault, reason.to_owned())),
            (None, None, Some(code)) => Some((LossKind::of_mistake(code), code.to_owned())),
            (None, _, _) => Some((LossKind::NotAsked, NOT_ASKED.to_owned())),
        };
        let (lost, reason) = lost.unzip();
        Self {
            answer,
            lost,
            reason,
            mistakes: mistakes.into_codes(),
        }
    }

    /// The same with what was made of the answer.
    pub(crate) fn map<U, E>(self, made: impl FnOnce(T) -> Result<U, E>) -> Result<QuestionEnd<U>, E> {
        Ok(QuestionEnd {
            answer: self.answer.map(made).transpose()?,
            lost: self.lost,
            reason: self.reason,
            mistakes: self.mistakes,
        })
    }
}

impl FormulaConversations<'_> {
    /// Holds one conversation; `read` judges the arguments of an answer. `None` when it is left for a later run, because
    /// another one was stopped.
    pub(crate) async fn hold<T>(
        &self,
        question: FormulaQuestion,
        read: &(dyn Fn(&str) -> Result<T, AnswerFault> + Sync),
    ) -> Result<Option<QuestionEnd<T>>, StudyError> {
        let what = question.what.clone();
        let ended = self.converse(question, read).await;
        ended.map_err(|error| {
            self.asking.stop();
            error.at(format_args!("agent {}, {what}", self.asking.model().id()))
        })
    }

    async fn converse<T>(
        &self,
        question: FormulaQuestion,
        read: &(dyn Fn(&str) -> Result<T, AnswerFault> + Sync),
    ) -> Result<Option<QuestionEnd<T>>, StudyError> {
        let (step, tool) = (question.step, question.tool.name);
        let client = self.asking.client(&NothingHidden, step);
        let mut session = self.session(question);
        let mut mistakes = Mistakes::default();
        let (mut ordinal, mut answer, mut unanswered) = (0, None, None);
        loop {
            let mut detail = None;
            match session.next() {
                SubmissionEffect::Ask(request) => {
                    let asked = self
                        .asking
                        .ask(&client, (step, ordinal), &request, Some(tool))
                        .await?;
                    match asked {
                        Answered::Turn(turn) => session.feed_turn(*turn).map_err(driven_wrongly)?,
                        Answered::Nothing(reason) => {
                            unanswered = Some(reason);
                            break;
                        }
                        Answered::Stopped => return Ok(None),
                    }
                    ordinal += 1;
                }
                SubmissionEffect::Submit { arguments } => match read(&arguments) {
                    Ok(read) => {
                        answer = Some(read);
                        session.accept().map_err(driven_wrongly)?;
                    }
                    Err(fault) => {
                        detail = Some(fault.code());
                        session
                            .reject(&fault.feedback(session.attempt()))
                            .map_err(driven_wrongly)?;
                    }
                },
                SubmissionEffect::End(Outcome::Submitted { .. } | Outcome::Fallback { .. }) => break,
            }
            mistakes.count(session.tally(), detail);
        }
        Ok(Some(QuestionEnd::of(answer, unanswered.as_deref(), mistakes)))
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

fn driven_wrongly(error: SessionError) -> StudyError {
    StudyError::input(
        format_args!("the session was driven wrongly: {error}"),
        "this is a defect of the program: report it",
    )
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
