//! What a step may look at: the market through its mask, or a roster and a book.

use crate::banded::{self, BookOrder, RosterContext};
use crate::context::{ToolContext, ToolLimits};
use crate::parsed_action::ParsedAction;
use crate::{feedback, last_step_payload, state};
use ktd_env::NameId;
use ktd_env::exchange::{RejectCode, Rules, decide};
use ktd_masking::{Mask, Mode, Payload};

/// View of one step. Where factors are told in bands there is no market in it.
#[derive(Debug, Clone, Copy)]
pub enum StepView<'a> {
    /// The market's as-of view and the account, each through the mask.
    Market(&'a ToolContext<'a>),
    /// The period's roster and the book.
    Roster(&'a RosterContext<'a>),
}

impl<'a> From<&'a ToolContext<'a>> for StepView<'a> {
    fn from(context: &'a ToolContext<'a>) -> Self {
        Self::Market(context)
    }
}

impl<'a> From<&'a RosterContext<'a>> for StepView<'a> {
    fn from(context: &'a RosterContext<'a>) -> Self {
        Self::Roster(context)
    }
}

/// What is wrong with orders before anything trades.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenRules {
    /// The first code, for counters.
    pub code: RejectCode,
    /// One row an order, each code explained once.
    pub feedback: Payload,
}

impl StepView<'_> {
    /// The door.
    #[must_use]
    pub const fn mask(&self) -> &Mask {
        match self {
            Self::Market(context) => context.mask,
            Self::Roster(context) => context.mask,
        }
    }

    /// The exchange's numbers.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        match self {
            Self::Market(context) => context.rules,
            Self::Roster(context) => context.rules,
        }
    }

    /// How much a call may ask for.
    #[must_use]
    pub const fn limits(&self) -> &ToolLimits {
        match self {
            Self::Market(context) => context.limits,
            Self::Roster(context) => context.limits,
        }
    }

    /// This step, 1-based.
    #[must_use]
    pub const fn step(&self) -> usize {
        match self {
            Self::Market(context) => context.step,
            Self::Roster(context) => context.step,
        }
    }

    /// The name behind an id, if it may be known at this step.
    #[must_use]
    pub fn resolve(&self, id: &str) -> Option<NameId> {
        match self {
            Self::Market(context) => context.resolve(id),
            Self::Roster(context) => context.resolve(id),
        }
    }

    /// The one line of JSON a user message ends with.
    #[must_use]
    pub fn state(&self, mode: Mode) -> Payload {
        match self {
            Self::Market(context) => state::state(context, mode),
            Self::Roster(context) => banded::state(context, mode),
        }
    }

    /// The as-of day as shown.
    #[must_use]
    pub fn as_of_day(&self) -> Payload {
        match self {
            Self::Market(context) => state::as_of_day(context),
            Self::Roster(context) => context.as_of_day.clone(),
        }
    }

    /// The account as shown.
    #[must_use]
    pub fn account(&self) -> Payload {
        match self {
            Self::Market(context) => state::account(context),
            Self::Roster(context) => banded::account(context),
        }
    }

    /// What became of the step before, as shown.
    #[must_use]
    pub fn last_step(&self) -> Payload {
        match self {
            Self::Market(context) => last_step_payload::payload(context),
            Self::Roster(context) => banded::last_step(context),
        }
    }

    /// The rules that orders break before anything trades; `None` when they break none.
    #[must_use]
    pub fn broken_rules(&self, action: &ParsedAction) -> Option<BrokenRules> {
        match self {
            Self::Market(context) => {
                let orders: Vec<_> = action.orders.iter().map(|parsed| parsed.order).collect();
                let decisions = decide(context.rules, context.account, &orders, context.as_of);
                let code = decisions
                    .iter()
                    .find_map(ktd_env::exchange::Decision::rejection)?;
                Some(BrokenRules {
                    code,
                    feedback: feedback::decisions(context, &action.orders, &decisions),
                })
            }
            Self::Roster(context) => {
                let orders = BookOrder::of(&action.orders);
                let decisions = context.book.decide(context.roster, context.rules, &orders);
                let code = decisions.iter().find_map(|decision| decision.err())?;
                Some(BrokenRules {
                    code,
                    feedback: banded::decisions(context, &action.orders, &decisions),
                })
            }
        }
    }
}
