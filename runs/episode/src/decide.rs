//! The conversation of one step: from the opening message to a decision.

use super::Episode;
use super::texts::{decide_now, rejected_feedback, schema_feedback, session_texts};
use crate::EpisodeError;
use ktd_agents::{
    ChatRequest, Expected, ModelFault, Outcome, ResearchEffect, Session, SessionLimits, StepPlan, Submission,
    SubmissionEffect, Tally, ToolAnswer,
};
use ktd_bundle::event::{OrderRecord, Phase, StepOutcome, WrittenEvent};
use ktd_client::ask::Answer;
use ktd_env::exchange::{Order, Quantity};
use ktd_experiment::branch::BranchChange;
use ktd_experiment::config::ConstraintFailures;
use ktd_masking::{Mode, Payload};
use ktd_tools::banded::BookOrder;
use ktd_tools::{AskedFormulas, ParsedAction, SUBMIT_ACTION, StepView};
use std::sync::Arc;

/// What a step decided.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) outcome: StepOutcome,
    pub(super) orders: Vec<Order>,
    /// The same as a book takes them.
    pub(super) book_orders: Vec<BookOrder>,
    pub(super) records: Vec<OrderRecord>,
    pub(super) overall_reason: Option<String>,
    /// Whether the model's words were mended to read its submission.
    pub(super) is_repaired: bool,
}

impl Decided {
    const fn nothing(outcome: StepOutcome) -> Self {
        Self {
            outcome,
            orders: Vec::new(),
            book_orders: Vec::new(),
            records: Vec::new(),
            overall_reason: None,
            is_repaired: false,
        }
    }

    fn of(action: &ParsedAction) -> Self {
        let outcome = if action.orders.is_empty() {
            StepOutcome::Hold
        } else {
            StepOutcome::Submitted
        };
        Self {
            outcome,
            orders: action.orders.iter().map(|parsed| parsed.order).collect(),
            book_orders: BookOrder::of(&action.orders),
            records: action.orders.iter().map(order_record).collect(),
            overall_reason: Some(action.overall_reason.clone()),
            is_repaired: false,
        }
    }
}

/// One step's conversation with its place in the record.
struct Talk {
    step: usize,
    /// 0-based next request.
    ordinal: u32,
    /// Faults of the tally that have been written as events.
    written: Tally,
}

/// The infrastructure failed until the attempts were used up.
struct Uncovered;

type Heard<T> = Result<Result<T, Uncovered>, EpisodeError>;

impl<'e> Episode<'e> {
    /// Runs the conversation of a step.
    pub(super) async fn decide(&mut self, step: usize, view: StepView<'_>) -> Result<Decided, EpisodeError> {
        if let Some(submission) = self.changed_orders(step) {
            return self.submitted_by_hand(step, view, submission);
        }
        let plan = self.plan(view);
        let mut talk = Talk {
            step,
            ordinal: 0,
            written: Tally::default(),
        };
        let submission = if self.input.cell.mode == Mode::OpenResearch {
            match self.research(&mut talk, view, plan).await? {
                Ok(session) => session,
                Err(Uncovered) => return Ok(Decided::nothing(StepOutcome::Uncovered)),
            }
        } else {
            Session::submission(plan)
        };
        Ok(self
            .submit(&mut talk, view, submission)
            .await?
            .unwrap_or_else(|Uncovered| Decided::nothing(StepOutcome::Uncovered)))
    }

    fn plan(&self, view: StepView<'_>) -> StepPlan {
        let cell = self.input.cell;
        let (agent, provider) = (cell.agent_at(view.step()), cell.provider_at(view.step()));
        let session = self.input.shared.session;
        let toolbox = &self.input.shared.toolbox;
        let submission = toolbox.submission_spec().clone();
        let decide_now = decide_now(provider.force, &submission);
        // Without research there is no second message, and a call that the vendor forces needs no word.
        let user = match cell.mode {
            Mode::MemoryOnly | Mode::FixedCandidate if !provider.force.is_enforced() => {
                decide_now.clone().text("\n\n").append(self.user_prompt(view))
            }
            Mode::MemoryOnly | Mode::FixedCandidate | Mode::OpenResearch => self.user_prompt(view),
        };
        StepPlan {
            model: agent.model_name().to_owned(),
            sampling: agent.sampling(cell.seed),
            tools: match cell.mode {
                Mode::OpenResearch => toolbox.read_only_specs(),
                Mode::MemoryOnly | Mode::FixedCandidate => Arc::default(),
            },
            submission,
            force: provider.force,
            thinking: provider.thinking,
            cache_key: Some(format!("{}|{}", agent.id, cell.mode.label())),
            system: self.system_prompt(),
            user,
            texts: session_texts(session, decide_now),
            limits: SessionLimits {
                max_tool_calls: session.max_tool_calls,
                schema_retries: session.schema_retries,
            },
        }
    }

    async fn research(
        &mut self,
        talk: &mut Talk,
        view: StepView<'_>,
        plan: StepPlan,
    ) -> Heard<Session<Submission>> {
        let mut session = Session::research(plan);
        let (changed, mut calls) = (self.changed_answer(talk.step), 0);
        let mut formulas = AskedFormulas::default();
        loop {
            match session.next() {
                ResearchEffect::Ask(request) => match self.ask(talk, Phase::Research, &request).await? {
                    Ok(answer) => session.feed_turn(answer.turn)?,
                    Err(uncovered) => return Ok(Err(uncovered)),
                },
                ResearchEffect::CallTool(call) => {
                    calls += 1;
                    let asked = changed.filter(|(place, ..)| *place == calls);
                    let (_, name, arguments) = asked.unwrap_or((calls, &call.name, &call.arguments));
                    let toolbox = &self.input.shared.toolbox;
                    let answer = toolbox.call_after(view, name, arguments, &mut formulas);
                    let refused = answer.code.map(str::to_owned);
                    self.write(&WrittenEvent::ToolCall {
                        step: talk.step,
                        name: call.name.clone(),
                        refused,
                    })?;
                    let payload = answer.payload;
                    session.feed_tool_answer(if answer.ok {
                        ToolAnswer::Data(payload)
                    } else {
                        ToolAnswer::Refused(payload)
                    })?;
                }
                ResearchEffect::Close => break,
            }
            self.write_faults(talk, session.tally(), None)?;
        }
        if let Some((place, ..)) = changed.filter(|(place, ..)| calls < *place) {
            let what = format!(
                "step {}: call {place} was to be answered otherwise, but {calls} were made",
                talk.step
            );
            return Err(EpisodeError::input(what, "choose an earlier call of the step"));
        }
        Ok(Ok(session.close()?))
    }

    /// The call of a step that a branch answers otherwise: its 1-based place, tool and arguments.
    fn changed_answer(&self, step: usize) -> Option<(usize, &'e str, &'e str)> {
        let changes = self.input.cell.changes_at(step);
        changes.into_iter().find_map(|change| match change {
            BranchChange::Answer {
                call,
                tool,
                arguments,
            } => Some((*call, tool.as_str(), arguments.as_str())),
            BranchChange::Orders { .. } | BranchChange::Numeric { .. } | BranchChange::Rules { .. } => None,
        })
    }

    /// What a branch submits in a step in the place of its agent.
    fn changed_orders(&self, step: usize) -> Option<&'e str> {
        let changes = self.input.cell.changes_at(step);
        changes.into_iter().find_map(|change| match change {
            BranchChange::Orders { submission } => Some(submission.as_str()),
            BranchChange::Answer { .. } | BranchChange::Numeric { .. } | BranchChange::Rules { .. } => None,
        })
    }

    /// The decision that a branch makes for its agent, which is not asked.
    fn submitted_by_hand(
        &self,
        step: usize,
        view: StepView<'_>,
        submission: &str,
    ) -> Result<Decided, EpisodeError> {
        self.judge(view, submission, (1, 1)).map_err(|refused| {
            EpisodeError::input(
                format!(
                    "step {step}: the orders of the branch are refused: {}",
                    refused.code
                ),
                "write the arguments of submit_action with identifiers as this episode shows them",
            )
        })
    }

    async fn submit(
        &mut self,
        talk: &mut Talk,
        view: StepView<'_>,
        mut session: Session<Submission>,
    ) -> Heard<Decided> {
        let mut accepted = None;
        loop {
            let mut detail = None;
            match session.next() {
                SubmissionEffect::Ask(request) => match self.ask(talk, Phase::Submission, &request).await? {
                    Ok(answer) => session.feed_turn(answer.turn)?,
                    Err(uncovered) => return Ok(Err(uncovered)),
                },
                SubmissionEffect::Submit { arguments } => {
                    match self.judge(view, &arguments, session.attempt()) {
                        Ok(decided) => {
                            accepted = Some(decided);
                            session.accept()?;
                        }
                        Err(Refused { code, feedback }) => {
                            detail = Some(code);
                            session.reject(&feedback)?;
                        }
                    }
                }
                SubmissionEffect::End(Outcome::Submitted { is_repaired, .. }) => {
                    accepted = accepted.map(|decided| Decided {
                        is_repaired,
                        ..decided
                    });
                    break;
                }
                SubmissionEffect::End(Outcome::Fallback { .. }) => {
                    accepted = Some(Decided::nothing(StepOutcome::Fallback));
                    break;
                }
            }
            self.write_faults(talk, session.tally(), detail)?;
        }
        Ok(Ok(
            accepted.unwrap_or_else(|| Decided::nothing(StepOutcome::Fallback))
        ))
    }

    /// Whether a submission is good: its schema, then the checks at decision.
    fn judge(&self, view: StepView<'_>, arguments: &str, attempt: (u32, u32)) -> Result<Decided, Refused> {
        let toolbox = &self.input.shared.toolbox;
        let action = toolbox
            .parse_submission(view, arguments)
            .map_err(|refusal| Refused {
                code: refusal.code(),
                feedback: schema_feedback(&refusal, attempt),
            })?;
        let feeds_back = self.input.shared.session.constraint_failures == ConstraintFailures::FeedBack;
        match view.broken_rules(&action).filter(|_| feeds_back) {
            Some(broken) => Err(Refused {
                code: broken.code.code(),
                feedback: rejected_feedback(broken.feedback, attempt),
            }),
            None => Ok(Decided::of(&action)),
        }
    }

    async fn ask(&mut self, talk: &mut Talk, phase: Phase, request: &ChatRequest) -> Heard<Answer> {
        let provider = self.exchanger.provider;
        let wire = provider.wire.encode(request, &provider.dialect);
        let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name).collect();
        let forced = matches!(phase, Phase::Submission).then_some(provider.force);
        let expected = Expected {
            tools: &tools,
            forced,
            submission: Some(SUBMIT_ACTION),
            self_hosted: provider.dialect.self_hosted,
        };
        let ordinal = talk.ordinal;
        talk.ordinal += 1;
        let asked = self.exchanger.ask(talk.step, ordinal, &wire, &expected).await?;
        for (attempt, code) in asked.faults.iter().enumerate() {
            let attempt = u32::try_from(attempt).unwrap_or(u32::MAX);
            let code = (*code).to_owned();
            self.write(&WrittenEvent::InfrastructureFault {
                step: talk.step,
                ordinal,
                attempt,
                code,
            })?;
        }
        let Some(answer) = asked.answer else {
            return Ok(Err(Uncovered));
        };
        let turn = &answer.turn;
        self.write(&WrittenEvent::Turn {
            step: talk.step,
            ordinal,
            phase,
            request: answer.request.clone(),
            reply: answer.reply.clone(),
            tool_calls: turn.tool_calls().iter().map(|call| call.name.clone()).collect(),
            force_declared: provider.force,
            force_sent: forced,
            normalised: turn
                .normalised()
                .iter()
                .map(|one| one.code().to_owned())
                .collect(),
            served_model: turn.served().model.clone(),
            fingerprint: turn.served().fingerprint.clone(),
            usage: turn.usage(),
        })?;
        Ok(Ok(answer))
    }

    /// Writes the mistakes counted since the last time. A refused tool call has its own event already.
    fn write_faults(
        &mut self,
        talk: &mut Talk,
        tally: &Tally,
        detail: Option<&'static str>,
    ) -> Result<(), EpisodeError> {
        for (fault, count) in &tally.faults {
            let new = count.saturating_sub(talk.written.count(*fault));
            if *fault == ModelFault::BadToolCall {
                continue;
            }
            for _ in 0..new {
                let code = fault.code().to_owned();
                let detail = detail.map(str::to_owned);
                self.write(&WrittenEvent::ModelFault {
                    step: talk.step,
                    code,
                    detail,
                })?;
            }
        }
        talk.written = tally.clone();
        Ok(())
    }
}

struct Refused {
    code: &'static str,
    feedback: Payload,
}

fn order_record(parsed: &ktd_tools::ParsedOrder) -> OrderRecord {
    let (target_weight_millionths, shares) = match parsed.order.quantity {
        Quantity::TargetWeight(weight) => (Some(weight.millionths()), None),
        Quantity::Shares(shares) => (None, Some(shares.0)),
    };
    OrderRecord {
        stock_id: parsed.stock_id.clone(),
        side: parsed.order.side.label().to_owned(),
        target_weight_millionths,
        shares,
        confidence: parsed.confidence,
        reason: parsed.reason.clone(),
    }
}
