//! What the harness says in a step: templates with their slots filled from settings and state.

use super::Episode;
use ktd_agents::{Attempt, ForceLevel, ModelFault, SessionTexts};
use ktd_env::exchange::{DividendTaxRule, Rules};
use ktd_experiment::config::{ConstraintFailures, SessionConfig};
use ktd_masking::{Count, Payload, Prompt, RuleFigures, ToolSpec};
use ktd_prompts::{
    AttemptSlots, ForceSlots, NotJsonSlots, RejectedSlots, SchemaSlots, SystemSlots, TooLargeSlots,
    ToolBudgetSlots, TwoCallsSlots, UserStepSlots,
};
use ktd_tools::{StepView, SubmissionError, ToolLimits};

fn count(value: u32) -> Payload {
    Count::of(usize::try_from(value).unwrap_or(usize::MAX)).into()
}

/// What asks for the submission at a force level. A weaker level has to say what a stronger one enforces.
pub(super) fn decide_now(force: ForceLevel, submit: &ToolSpec) -> Prompt {
    let schema = || ForceSlots {
        action_schema: Payload::from(&submit.parameters),
    };
    match force {
        ForceLevel::Named | ForceLevel::Required => ktd_prompts::submission(),
        ForceLevel::Auto => ktd_prompts::force_auto(),
        ForceLevel::Json => ktd_prompts::force_json(&schema()),
        ForceLevel::Text => ktd_prompts::force_text(&schema()),
    }
}

/// The texts of a session that do not depend on the step.
pub(super) fn session_texts(session: SessionConfig, decide_now: Prompt) -> SessionTexts {
    let budget = ToolBudgetSlots {
        max_tool_calls: count(session.max_tool_calls),
    };
    SessionTexts {
        close: ktd_prompts::close_research().append(decide_now),
        budget_used_up: ktd_prompts::feedback_tool_budget(&budget).into(),
        not_yet: ktd_prompts::close_research().into(),
        feedback: no_submission,
    }
}

/// The reply to a turn that is no submission.
fn no_submission(attempt: Attempt) -> Payload {
    let (number, of) = (count(attempt.number), count(attempt.of));
    let slots = AttemptSlots {
        attempt: number.clone(),
        attempts: of.clone(),
    };
    let prompt = match attempt.fault {
        ModelFault::NoCall
        | ModelFault::UnknownTool
        | ModelFault::WrongTool
        | ModelFault::ArgumentsMalformed
        | ModelFault::NoAnswer
            if !attempt.force.is_by_call() =>
        {
            ktd_prompts::feedback_no_object(&slots)
        }
        ModelFault::MultipleCalls | ModelFault::TooManyCalls => {
            ktd_prompts::feedback_two_calls(&TwoCallsSlots {
                calls: Count::of(attempt.calls).into(),
                attempt: number,
                attempts: of,
            })
        }
        ModelFault::WrongTool | ModelFault::UnknownTool | ModelFault::BadToolCall => {
            ktd_prompts::feedback_other_tool(&slots)
        }
        ModelFault::ArgumentsTooLarge => too_large(number, of),
        ModelFault::Truncated => ktd_prompts::feedback_truncated(&slots),
        ModelFault::Refusal => ktd_prompts::feedback_refusal(&slots),
        ModelFault::CallInText => ktd_prompts::feedback_call_in_text(&slots),
        ModelFault::NoCall | ModelFault::ArgumentsMalformed | ModelFault::Rejected | ModelFault::NoAnswer => {
            ktd_prompts::feedback_no_call(&slots)
        }
    };
    prompt.into()
}

/// The reply to a submission beyond the limits of a text.
fn too_large(attempt: Payload, attempts: Payload) -> Prompt {
    let limits = ToolLimits::default();
    ktd_prompts::feedback_too_large(&TooLargeSlots {
        max_bytes: Count::of(limits.max_argument_bytes).into(),
        max_depth: Count::of(limits.max_argument_depth).into(),
        max_orders: count(limits.max_orders),
        attempt,
        attempts,
    })
}

/// The reply to a submission that is no JSON or breaks the schema.
pub(super) fn schema_feedback(refusal: &SubmissionError, (number, of): (u32, u32)) -> Payload {
    let (attempt, attempts) = (count(number), count(of));
    let prompt = match refusal.stops_at() {
        Some((line, column)) => ktd_prompts::feedback_not_json(&NotJsonSlots {
            line,
            column,
            attempt,
            attempts,
        }),
        None => ktd_prompts::feedback_schema(&SchemaSlots {
            errors: refusal.payload(),
            attempt,
            attempts,
        }),
    };
    prompt.into()
}

/// The reply to a submission with orders that the rules reject.
pub(super) fn rejected_feedback(decisions: Payload, (number, of): (u32, u32)) -> Payload {
    ktd_prompts::feedback_rejected(&RejectedSlots {
        decisions,
        attempt: count(number),
        attempts: count(of),
    })
    .into()
}

fn system_slots(rules: &Rules, limits: &ToolLimits, session: SessionConfig) -> SystemSlots {
    let figures = RuleFigures::of(rules);
    SystemSlots {
        initial_cash_cny: figures.initial_cash_cny(),
        candidates_per_factor: count(limits.fixed_candidates_per_factor),
        max_tool_calls: count(session.max_tool_calls),
        max_candidates: count(limits.max_candidates),
        max_lookback: count(limits.max_lookback),
        max_compare: count(limits.max_compare),
        max_single_weight: figures.max_single_weight(),
        max_positions: figures.max_positions(),
        price_limits: figures.price_limits(),
        open_terms: figures.open_terms(),
        fees: figures.fees(),
        min_reason_chars: figures.min_reason_chars(),
        max_orders: count(limits.max_orders),
        schema_retries: count(session.schema_retries),
        constraint_policy: Payload::label(match session.constraint_failures {
            ConstraintFailures::FeedBack => FED_BACK,
            ConstraintFailures::RejectAlone => REJECTED_ALONE,
        }),
    }
}

const FED_BACK: &str = "An order of the right form that breaks a rule known before the open sends the whole list back \
                        with the reasons, within the same attempts. One that fails only at the open (suspended, at its \
                        limit, no cash) is rejected alone; the next STATE says why.";
const REJECTED_ALONE: &str = "An order of the right form that breaks a rule above is rejected alone; the others stand, \
                              and the next STATE says why.";

impl Episode<'_> {
    /// The system message: the mode and the rules alone, so that a provider's prompt cache holds over masks, seeds and
    /// days.
    pub(super) fn system_prompt(&self) -> Prompt {
        let mut rules = self.rules.clone();
        if !rules.tax_dividends(&self.input.shared.market) {
            rules.dividend_tax = DividendTaxRule::None;
        }
        let slots = system_slots(&rules, &self.limits, self.input.shared.session);
        ktd_prompts::system(self.input.cell.mode, &slots)
    }

    /// The message that opens a step.
    pub(super) fn user_prompt(&self, view: StepView<'_>) -> Prompt {
        let slots = UserStepSlots {
            state: view.state(self.input.cell.mode),
        };
        ktd_prompts::user_step(self.input.cell.arm_at(view.step()).explained(), &slots)
    }
}
