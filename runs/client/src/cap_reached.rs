//! A budget without room, and whose it is.

use ktd_experiment::amount::Picodollars;
use std::fmt;

/// What a cap is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The whole experiment.
    Experiment,
    /// One who asks, by its id: a cell, a language attacker, a measurement.
    Spender(String),
    /// All that is asked of a vendor, by its id.
    Vendor(String),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Experiment => f.write_str("the experiment"),
            Self::Spender(id) => f.write_str(id),
            Self::Vendor(id) => write!(f, "vendor {id}"),
        }
    }
}

/// A call that no cap has room for, now or later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapReached {
    /// Which cap.
    pub scope: Scope,
    /// The cap.
    pub cap: Picodollars,
    /// What is spent of it.
    pub spent: Picodollars,
    /// The most that the call can cost.
    pub needed: Picodollars,
}

impl fmt::Display for CapReached {
    /// `the budget of the experiment has no room: $24.90 of $25.00 are spent, and the next call may cost $0.2000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the budget of {} has no room: {} of {} are spent, and the next call may cost {}",
            self.scope, self.spent, self.cap, self.needed
        )
    }
}
