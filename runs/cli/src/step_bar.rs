//! A progress bar of steps, with a note when an endpoint does not answer.

use crate::output::Console;
use crate::progress::Progress;
use ktd_client::progress::{FailedAttempt, Progress as EpisodeProgress};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Steps as they go by. The first attempt of each agent that failed is told, on a quiet console too: a run that waits
/// for an endpoint would otherwise look like one that hangs.
pub(super) struct StepBar {
    state: Mutex<State>,
}

struct State {
    bar: Progress,
    warned: BTreeSet<String>,
}

impl StepBar {
    /// A bar of so many steps.
    pub(super) fn of_steps(console: Console, steps: usize) -> Self {
        let units = u64::try_from(steps).unwrap_or(u64::MAX);
        let state = State {
            bar: Progress::new(console, "running", units, "steps"),
            warned: BTreeSet::new(),
        };
        Self {
            state: Mutex::new(state),
        }
    }
}

impl EpisodeProgress for StepBar {
    fn step_ended(&self, _: &str, _: usize, _: usize) {
        if let Ok(mut state) = self.state.lock() {
            state.bar.advance(1);
        }
    }

    fn attempt_failed(&self, failed: &FailedAttempt<'_>) {
        if let Ok(mut state) = self.state.lock()
            && state.warned.insert(failed.agent.to_owned())
        {
            let note = format!("agent {}: {failed}", failed.agent);
            state.bar.suspend(|| Console::warning(&note));
        }
    }

    fn news(&self, what: &str) {
        if let Ok(state) = self.state.lock() {
            state.bar.suspend(|| Console::warning(what));
        }
    }
}
