//! Holds what a plan says, in equal weights: the hands of a control whose head is elsewhere.

use crate::order::{rebalance, stake_of_foresight};
use crate::seen::Seen;
use crate::{ChatModel, answer};
use std::fmt;
use std::sync::Arc;

/// Which names to hold.
pub trait Plan: Send + Sync {
    /// The names to hold over the trading day of a 1-based step, best first, as the episode shows them; `held` are those
    /// held before it.
    fn wanted(&self, step: usize, held: &[String]) -> Vec<String>;

    /// Whether it knows prices to come, so that the share it invests falls with the steps.
    fn has_foresight(&self) -> bool {
        false
    }
}

/// Holds what a plan says, in equal weights, and looks nothing up.
#[derive(Clone)]
pub struct Follower {
    plan: Arc<dyn Plan>,
}

impl Follower {
    /// A follower of a plan.
    #[must_use]
    pub const fn new(plan: Arc<dyn Plan>) -> Self {
        Self { plan }
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Follower").finish_non_exhaustive()
    }
}

impl ChatModel for Follower {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        if !seen.must_submit() {
            return answer::say(&seen, "There is nothing I need to look up.");
        }
        let (Some(step), Some(allowed)) = (seen.step(), seen.allowed()) else {
            return answer::hold(&seen, "I cannot tell which step this is.");
        };
        let wanted = self.plan.wanted(step, &seen.held());
        let allowed = if self.plan.has_foresight() {
            stake_of_foresight(step, allowed)
        } else {
            allowed
        };
        let orders = rebalance(&seen, allowed, &wanted, "The plan says so.");
        answer::submit(&seen, orders, "Following the plan.")
    }
}
