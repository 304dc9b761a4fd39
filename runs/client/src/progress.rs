//! An observer of episodes.

use ktd_bundle::event::StepOutcome;

/// An observer that is called as steps go by.
pub trait Progress: Send + Sync {
    /// A step of a cell begins.
    fn step_began(&self, _cell: &str, _step: usize, _steps: usize) {}

    /// A step of a cell was decided, before anything trades.
    fn step_decided(&self, _cell: &str, _step: usize, _outcome: StepOutcome) {}

    /// A step of a cell ended.
    fn step_ended(&self, cell: &str, step: usize, steps: usize);
}

/// No observer.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn step_ended(&self, _: &str, _: usize, _: usize) {}
}
