//! The progress of an episode, as the engine reports it.

use crate::progress::{FailedAttempt, Progress};
use ktd_bundle::event::StepOutcome;
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StepEnd {
    /// 1-based.
    pub step: usize,
    /// What became of its decision.
    pub outcome: StepOutcome,
}

/// Where an episode is. It does not say how many steps there are, so that no outside agent can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepStatus {
    /// 1-based step that is being decided, or the last one.
    pub step: usize,
    /// The last step that was decided while this program ran.
    pub ended: Option<StepEnd>,
}

/// Where an episode is, shared between the engine and an outside agent's side.
#[derive(Debug, Default)]
pub struct Steps(Mutex<StepStatus>);

impl Steps {
    /// Where it is.
    #[must_use]
    pub fn now(&self) -> StepStatus {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut StepStatus)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Notes where the episode is and passes everything on.
#[expect(
    missing_debug_implementations,
    reason = "whoever is told need not be printable"
)]
pub struct TrackedProgress<'a> {
    steps: Arc<Steps>,
    next: &'a dyn Progress,
}

impl<'a> TrackedProgress<'a> {
    /// Notes into `steps` and tells `next`.
    #[must_use]
    pub const fn new(steps: Arc<Steps>, next: &'a dyn Progress) -> Self {
        Self { steps, next }
    }
}

impl Progress for TrackedProgress<'_> {
    fn step_began(&self, cell: &str, step: usize, steps: usize) {
        self.steps.change(|now| now.step = step);
        self.next.step_began(cell, step, steps);
    }

    fn step_decided(&self, cell: &str, step: usize, outcome: StepOutcome) {
        self.steps
            .change(|now| now.ended = Some(StepEnd { step, outcome }));
        self.next.step_decided(cell, step, outcome);
    }

    fn attempt_failed(&self, failed: &FailedAttempt<'_>) {
        self.next.attempt_failed(failed);
    }

    fn news(&self, what: &str) {
        self.next.news(what);
    }

    fn step_ended(&self, cell: &str, step: usize, steps: usize) {
        self.next.step_ended(cell, step, steps);
    }
}
