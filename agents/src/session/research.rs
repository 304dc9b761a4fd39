//! The first phase of `open-research`: the model asks, the tools answer.

use crate::chat::{CallId, ChatRequest, Message, ModelTurn, ToolCall};
use crate::model_fault::ModelFault;
use crate::session::{Session, SessionError, StepPlan, Submission, Talk, fault_of_stop};
use crate::words::{Masked, Words};
use std::collections::VecDeque;

/// The model may call tools as it likes, within its budget.
///
/// Research ends when the model answers without a tool call, when it calls the tool that submits, or when the budget of
/// tool calls is used up. An early submission is the wish to submit and no submission: every submission is
/// made under the same forced choice, so that models compare. Other calls of that turn are still answered.
#[derive(Debug, Clone)]
pub struct Research {
    pending: VecDeque<Pending>,
    calls_handed_out: u32,
    is_over: bool,
}

/// A call that waits for its answer, in the model's order.
#[derive(Debug, Clone)]
enum Pending {
    Run(ToolCall),
    OverBudget(CallId),
    EarlySubmission(CallId),
}

/// What research wants next.
#[derive(Debug, Clone)]
pub enum ResearchEffect<W: Words = Masked> {
    /// Send this and feed the turn. The same request until a turn is fed.
    Ask(ChatRequest<W>),
    /// Run this tool and feed its answer. The name and the arguments are the model's raw text.
    CallTool(ToolCall),
    /// Research is over: [`Session::close`] it.
    Close,
}

/// A tool's answer. Both kinds go to the model; the second counts as its mistake.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolAnswer<W: Words = Masked> {
    /// The data asked for.
    Data(W::Payload),
    /// A structured error: bad arguments, or no such tool.
    Refused(W::Payload),
}

impl<W: Words> Session<Research, W> {
    /// Opens a step with research.
    #[must_use]
    pub fn research(plan: StepPlan<W>) -> Self {
        let is_over = plan.limits.max_tool_calls == 0;
        Self {
            talk: Talk::open(plan),
            phase: Research {
                pending: VecDeque::new(),
                calls_handed_out: 0,
                is_over,
            },
        }
    }

    /// What is wanted next. Asking twice gives the same.
    #[must_use]
    pub fn next(&self) -> ResearchEffect<W> {
        if let Some(Pending::Run(call)) = self.phase.pending.front() {
            ResearchEffect::CallTool(call.clone())
        } else if self.phase.is_over {
            ResearchEffect::Close
        } else {
            ResearchEffect::Ask(self.talk.research_request())
        }
    }

    /// The model's turn in answer to the open request.
    ///
    /// # Errors
    /// [`SessionError::NoRequestOpen`] when a tool call is open or research is over.
    pub fn feed_turn(&mut self, turn: ModelTurn) -> Result<(), SessionError> {
        if self.phase.is_over || !self.phase.pending.is_empty() {
            return Err(SessionError::NoRequestOpen);
        }
        if turn.tool_calls().is_empty() {
            self.phase.is_over = true;
            if let Some(fault) = fault_of_stop(turn.stop()) {
                self.talk.tally.blame(fault);
            }
        }
        if 0 < turn.calls_dropped() {
            self.talk.tally.blame(ModelFault::TooManyCalls);
        }
        for call in turn.tool_calls() {
            let pending = self.admit(call);
            self.phase.pending.push_back(pending);
        }
        self.talk.keep(turn);
        self.settle();
        Ok(())
    }

    /// The answer to the open tool call.
    ///
    /// # Errors
    /// [`SessionError::NoCallOpen`] when no tool call is open.
    pub fn feed_tool_answer(&mut self, answer: ToolAnswer<W>) -> Result<(), SessionError> {
        let Some(Pending::Run(call)) = self.phase.pending.front() else {
            return Err(SessionError::NoCallOpen);
        };
        let call_id = call.id.clone();
        let content = match answer {
            ToolAnswer::Data(content) => {
                self.talk.tally.tool_calls_answered += 1;
                content
            }
            ToolAnswer::Refused(content) => {
                self.talk.tally.tool_calls_refused += 1;
                self.talk.tally.blame(ModelFault::BadToolCall);
                content
            }
        };
        self.answer(call_id, content);
        self.settle();
        Ok(())
    }

    /// Ends research with the user message that asks for the submission.
    ///
    /// # Errors
    /// [`SessionError::ResearchOpen`] unless `next` is [`ResearchEffect::Close`].
    pub fn close(mut self) -> Result<Session<Submission, W>, SessionError> {
        if !self.phase.is_over || !self.phase.pending.is_empty() {
            return Err(SessionError::ResearchOpen);
        }
        let prompt = self.talk.plan.texts.close.clone();
        self.talk.messages.push(Message::User(prompt));
        Ok(Session::after(self.talk))
    }

    fn admit(&mut self, call: &ToolCall) -> Pending {
        if call.name == self.talk.plan.submission.name {
            self.phase.is_over = true;
            self.talk.tally.early_submissions += 1;
            return Pending::EarlySubmission(call.id.clone());
        }
        if self.phase.calls_handed_out < self.talk.plan.limits.max_tool_calls {
            self.phase.calls_handed_out += 1;
            Pending::Run(call.clone())
        } else {
            self.talk.tally.tool_calls_over_budget += 1;
            Pending::OverBudget(call.id.clone())
        }
    }

    /// Answers what needs no tool, up to the next call that does.
    fn settle(&mut self) {
        while let Some(pending) = self.phase.pending.front() {
            let (call_id, content) = match pending {
                Pending::Run(_) => return,
                Pending::OverBudget(id) => (id.clone(), self.talk.plan.texts.budget_used_up.clone()),
                Pending::EarlySubmission(id) => (id.clone(), self.talk.plan.texts.not_yet.clone()),
            };
            self.answer(call_id, content);
        }
        if self.talk.plan.limits.max_tool_calls <= self.phase.calls_handed_out {
            self.phase.is_over = true;
        }
    }

    fn answer(&mut self, call_id: CallId, content: W::Payload) {
        self.phase.pending.pop_front();
        self.talk.messages.push(Message::Tool { call_id, content });
    }
}
