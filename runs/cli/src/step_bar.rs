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
            state.bar.suspend(|| Console::warning(&note(failed)));
        }
    }
}

/// What happened, and what happens next.
fn note(failed: &FailedAttempt<'_>) -> String {
    let FailedAttempt {
        agent,
        endpoint,
        code,
        attempt,
        attempts,
        wait,
    } = failed;
    let what = match *code {
        "connect" => format!("cannot connect to {endpoint}"),
        "timeout" => format!("no reply from {endpoint} in time"),
        code => format!("{endpoint} failed with `{code}`"),
    };
    format!(
        "agent {agent}: {what} (attempt {attempt} of {attempts}), trying again in {:.1} s; later ones are counted in \
         the table",
        wait.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_note_says_who_where_and_when_next() {
        let failed = FailedAttempt {
            agent: "x",
            endpoint: "http://127.0.0.1:9/v1",
            code: "connect",
            attempt: 1,
            attempts: 5,
            wait: Duration::from_secs(2),
        };
        assert_eq!(
            note(&failed),
            "agent x: cannot connect to http://127.0.0.1:9/v1 (attempt 1 of 5), trying again in 2.0 s; later ones are \
             counted in the table"
        );
    }
}
