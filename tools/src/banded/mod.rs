//! What is shown where factors are told in bands: a roster, and the agent's own orders. No market and no account is in reach,
//! so no answer, code or count can tell anything else, whoever asks and however often.

mod answers;
mod banded_state;
mod book;
mod state;

pub(crate) use answers::answer;
pub use banded_state::BandedState;
pub use book::{Book, BookAnswer, BookOrder, BookPosition};
pub(crate) use state::{account, decisions, last_step, state};

use crate::context::ToolLimits;
use crate::last_step::LastStepKind;
use ktd_env::NameId;
use ktd_env::exchange::Rules;
use ktd_masking::{Mask, Payload, Roster, ShownStock};

/// Surroundings of one step where factors are told in bands, shared by all calls of that step.
#[derive(Debug, Clone, Copy)]
pub struct RosterContext<'a> {
    /// The stocks of the period.
    pub roster: &'a Roster,
    /// What was ordered so far.
    pub book: &'a Book,
    /// The door, for labels of days and the step of target weights.
    pub mask: &'a Mask,
    /// The as-of day, as shown.
    pub as_of_day: &'a Payload,
    /// The exchange's numbers.
    pub rules: &'a Rules,
    /// How much a call may ask for.
    pub limits: &'a ToolLimits,
    /// How the step before ended; `None` at the first step.
    pub last_step: Option<LastStepKind>,
    /// This step, 1-based.
    pub step: usize,
}

impl RosterContext<'_> {
    /// The stock of an id: one of the period, or one in the book.
    pub(crate) fn find(&self, id: &str) -> Option<&ShownStock> {
        let held = || self.book.find(id).map(|position| &position.stock);
        held().or_else(|| self.roster.find(id))
    }

    pub(crate) fn resolve(&self, id: &str) -> Option<NameId> {
        self.find(id).map(ShownStock::name)
    }
}
