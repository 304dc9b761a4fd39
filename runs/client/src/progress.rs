//! An observer of episodes.

use ktd_bundle::event::StepOutcome;
use std::time::Duration;

/// A failed attempt at a request that will be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedAttempt<'a> {
    /// Whose request it is.
    pub agent: &'a str,
    /// The base URL that was asked.
    pub endpoint: &'a str,
    /// The stable name of the fault.
    pub code: &'a str,
    /// 1-based attempt.
    pub attempt: u32,
    /// Attempts in all.
    pub attempts: u32,
    /// The wait before the next one.
    pub wait: Duration,
}

/// An observer that is called as steps go by.
pub trait Progress: Send + Sync {
    /// A step of a cell begins.
    fn step_began(&self, _cell: &str, _step: usize, _steps: usize) {}

    /// A step of a cell was decided, before anything trades.
    fn step_decided(&self, _cell: &str, _step: usize, _outcome: StepOutcome) {}

    /// An attempt at a request failed, and the next one waits.
    fn attempt_failed(&self, _failed: &FailedAttempt<'_>) {}

    /// A step of a cell ended.
    fn step_ended(&self, cell: &str, step: usize, steps: usize);
}

/// No observer.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn step_ended(&self, _: &str, _: usize, _: usize) {}
}
