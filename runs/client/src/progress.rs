//! An observer of episodes.

use ktd_bundle::event::StepOutcome;
use std::fmt;
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

impl fmt::Display for FailedAttempt<'_> {
    /// What happened, and what happens next.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = self.endpoint;
        match self.code {
            "connect" => write!(f, "cannot connect to {endpoint}"),
            "timeout" => write!(f, "no reply from {endpoint} in time"),
            code => write!(f, "{endpoint} failed with `{code}`"),
        }?;
        write!(
            f,
            " (attempt {} of {}), trying again in {:.1} s; later ones are counted in the table",
            self.attempt,
            self.attempts,
            self.wait.as_secs_f64()
        )
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_attempt_says_where_and_when_next() {
        let failed = FailedAttempt {
            agent: "x",
            endpoint: "http://127.0.0.1:9/v1",
            code: "connect",
            attempt: 1,
            attempts: 5,
            wait: Duration::from_secs(2),
        };
        assert_eq!(
            failed.to_string(),
            "cannot connect to http://127.0.0.1:9/v1 (attempt 1 of 5), trying again in 2.0 s; later ones are counted in \
             the table"
        );
    }
}
