//! The phase in which the model must submit.

use crate::chat::{ChatRequest, Message, ModelTurn, StopReason, ToolCall};
use crate::model_fault::ModelFault;
use crate::session::{Attempt, Session, SessionError, StepPlan, Talk};
use crate::verdict::{Expected, arguments_of_printed_call, fault_of_turn, object_in_text};
use crate::words::{Masked, Words};

/// The model is made to submit once, as strongly as the plan's force level says, and may correct itself
/// `schema_retries` times.
#[derive(Debug, Clone)]
pub struct Submission {
    state: State,
    retries_left: u32,
}

#[derive(Debug, Clone)]
enum State {
    Asking,
    Offered(Offer),
    Ended(Outcome),
}

#[derive(Debug, Clone)]
struct Offer {
    arguments: String,
    /// The calls of the turn; none where the submission came as text.
    calls: Vec<ToolCall>,
    /// Whether the model's words were repaired to read it.
    is_repaired: bool,
    /// What a rejection of it is blamed on: arguments that were cut are not the same mistake as wrong ones.
    fault: ModelFault,
}

/// What the submission phase wants next.
#[derive(Debug, Clone)]
pub enum SubmissionEffect<W: Words = Masked> {
    /// Send this and feed the turn. The same request until a turn is fed.
    Ask(ChatRequest<W>),
    /// Judge these arguments, which are the model's raw text, then [`Session::accept`] or [`Session::reject`].
    Submit {
        /// The arguments of the one call of the tool that submits, or the object that stands for them.
        arguments: String,
    },
    /// The step is over.
    End(Outcome),
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The caller accepted these arguments.
    Submitted {
        /// The raw text of the accepted arguments.
        arguments: String,
        /// Whether they count in the lenient column alone: the model's words were repaired to read them.
        is_repaired: bool,
    },
    /// No submission was good within the retries.
    Fallback {
        /// The mistake that used up the last retry.
        last_fault: ModelFault,
    },
}

impl<W: Words> Session<Submission, W> {
    /// Opens a step that has the submission phase alone.
    #[must_use]
    pub fn submission(plan: StepPlan<W>) -> Self {
        Self::after(Talk::open(plan))
    }

    pub(super) fn after(talk: Talk<W>) -> Self {
        let retries_left = talk.plan.limits.schema_retries;
        Self {
            talk,
            phase: Submission {
                state: State::Asking,
                retries_left,
            },
        }
    }

    /// What is wanted next. Asking twice gives the same.
    #[must_use]
    pub fn next(&self) -> SubmissionEffect<W> {
        match &self.phase.state {
            State::Asking => SubmissionEffect::Ask(self.talk.submission_request()),
            State::Offered(offer) => SubmissionEffect::Submit {
                arguments: offer.arguments.clone(),
            },
            State::Ended(outcome) => SubmissionEffect::End(outcome.clone()),
        }
    }

    /// The model's turn in answer to the open request.
    ///
    /// # Errors
    /// [`SessionError::NoRequestOpen`] when a submission is open or the step is over.
    pub fn feed_turn(&mut self, turn: ModelTurn) -> Result<(), SessionError> {
        if !matches!(self.phase.state, State::Asking) {
            return Err(SessionError::NoRequestOpen);
        }
        match self.read(&turn) {
            Ok(offer) => {
                self.talk.tally.submissions += 1;
                self.phase.state = State::Offered(offer);
                self.talk.keep(turn);
            }
            Err(fault) => {
                let calls = turn.tool_calls().to_vec();
                let dropped = turn.calls_dropped();
                self.talk.keep(turn);
                let (number, of) = self.attempt();
                let attempt = Attempt {
                    fault,
                    force: self.talk.plan.force,
                    calls: calls.len() + dropped,
                    number,
                    of,
                };
                let feedback = (self.talk.plan.texts.feedback)(attempt);
                self.retry(fault, &calls, &feedback);
            }
        }
        Ok(())
    }

    /// The open submission is good: the step is over.
    ///
    /// # Errors
    /// [`SessionError::NoSubmissionOpen`] when no submission is open.
    pub fn accept(&mut self) -> Result<(), SessionError> {
        let State::Offered(offer) = &self.phase.state else {
            return Err(SessionError::NoSubmissionOpen);
        };
        let Offer {
            arguments,
            is_repaired,
            ..
        } = offer.clone();
        self.phase.state = State::Ended(Outcome::Submitted {
            arguments,
            is_repaired,
        });
        Ok(())
    }

    /// The open submission is not good: the model is answered why and may try again while retries are left.
    ///
    /// # Errors
    /// [`SessionError::NoSubmissionOpen`] when no submission is open.
    pub fn reject(&mut self, feedback: &W::Payload) -> Result<(), SessionError> {
        let State::Offered(offer) = &self.phase.state else {
            return Err(SessionError::NoSubmissionOpen);
        };
        let Offer { calls, fault, .. } = offer.clone();
        self.retry(fault, &calls, feedback);
        Ok(())
    }

    /// Which attempt the open one is, 1-based, and how many there are in all.
    #[must_use]
    pub const fn attempt(&self) -> (u32, u32) {
        let of = self.talk.plan.limits.schema_retries.saturating_add(1);
        (of.saturating_sub(self.phase.retries_left), of)
    }

    /// How many more faults are forgiven.
    #[must_use]
    pub const fn retries_left(&self) -> u32 {
        self.phase.retries_left
    }

    /// How the step ended, with what was counted.
    ///
    /// # Errors
    /// [`SessionError::NotEnded`] unless `next` is [`SubmissionEffect::End`].
    pub fn outcome(self) -> Result<(Outcome, crate::Tally), SessionError> {
        if let State::Ended(outcome) = self.phase.state {
            Ok((outcome, self.talk.tally))
        } else {
            Err(SessionError::NotEnded)
        }
    }

    /// Answers every call of the bad turn, or speaks as the user when there was none, and asks again or gives up.
    fn retry(&mut self, fault: ModelFault, calls: &[ToolCall], feedback: &W::Payload) {
        // A refusal is asked once more and not three times: the model has said that it will not.
        let is_final = fault == ModelFault::Refusal && 0 < self.talk.tally.count(fault);
        self.talk.tally.blame(fault);
        let answers = calls.iter().map(|call| Message::Tool {
            call_id: call.id.clone(),
            content: feedback.clone(),
        });
        self.talk.messages.extend(answers);
        if calls.is_empty() {
            self.talk
                .messages
                .push(Message::User(W::Prompt::from(feedback.clone())));
        }
        self.phase.state = match self.phase.retries_left.checked_sub(1) {
            Some(retries_left) if !is_final => {
                self.phase.retries_left = retries_left;
                State::Asking
            }
            Some(_) | None => State::Ended(Outcome::Fallback { last_fault: fault }),
        };
    }

    /// A submission is exactly one call of the tool that submits, or, where the level has no calls, one JSON object. The
    /// first of two is never taken silently.
    fn read(&self, turn: &ModelTurn) -> Result<Offer, ModelFault> {
        let force = self.talk.plan.force;
        let submission = self.talk.plan.submission.name;
        let names: Vec<&str> = self.talk.all_tools.iter().map(|tool| tool.name).collect();
        let expected = Expected {
            tools: &names,
            forced: Some(force),
            submission: Some(submission),
            self_hosted: false,
        };
        let read_text = || read_text(turn, submission);
        let read_call = || read_call(turn, submission);
        let offer = |fault| read_call().map(|offer| Offer { fault, ..offer });
        match fault_of_turn(turn, &expected) {
            Some(ModelFault::CallInText) => read_text().ok_or(ModelFault::CallInText),
            // What is no JSON is judged with the rest, so that the feedback says where it breaks.
            Some(fault @ (ModelFault::ArgumentsMalformed | ModelFault::Truncated)) => {
                offer(fault).ok_or(fault)
            }
            Some(fault) => Err(fault),
            None if turn.tool_calls().is_empty() => read_text().ok_or(ModelFault::ArgumentsMalformed),
            None => read_call().ok_or(ModelFault::NoCall),
        }
    }
}

/// The one call of a turn, when it is of the tool that submits.
fn read_call(turn: &ModelTurn, submission: &str) -> Option<Offer> {
    let [call] = turn.tool_calls() else {
        return None;
    };
    (call.name == submission).then(|| Offer {
        arguments: call.arguments.as_str().to_owned(),
        calls: vec![call.clone()],
        is_repaired: turn.normalised().iter().any(|one| one.is_repair()),
        fault: fault_of_rejection(turn),
    })
}

/// The submission that a text holds: its one JSON object, or the arguments of the call that it prints.
fn read_text(turn: &ModelTurn, submission: &str) -> Option<Offer> {
    let (object, is_extracted) = object_in_text(turn.text()?)?;
    let arguments = arguments_of_printed_call(&object, submission)?;
    Some(Offer {
        is_repaired: is_extracted || arguments != object,
        arguments,
        calls: Vec::new(),
        fault: fault_of_rejection(turn),
    })
}

/// What a rejection of a submission is blamed on.
fn fault_of_rejection(turn: &ModelTurn) -> ModelFault {
    if turn.stop() == StopReason::Length {
        ModelFault::Truncated
    } else {
        ModelFault::Rejected
    }
}
