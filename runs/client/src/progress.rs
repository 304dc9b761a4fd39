//! An observer of episodes.

use crate::money::rate_gate::EndpointNews;
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
    /// Attempts in all; `None` where it is made again until somebody answers.
    pub attempts: Option<u32>,
    /// The wait before the next one.
    pub wait: Duration,
}

impl fmt::Display for FailedAttempt<'_> {
    /// What happened, and what happens next.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A program of a user's own has no address.
        let endpoint = if self.endpoint.is_empty() {
            "its program"
        } else {
            self.endpoint
        };
        match self.code {
            "connect" => write!(f, "cannot connect to {endpoint}"),
            "timeout" => write!(f, "no reply from {endpoint} in time"),
            code => write!(f, "{endpoint} failed with `{code}`"),
        }?;
        match self.attempts {
            Some(attempts) => write!(f, " (attempt {} of {attempts})", self.attempt),
            None => write!(f, " (attempt {})", self.attempt),
        }?;
        let seconds = self.wait.as_secs_f64();
        write!(
            f,
            ", trying again in {seconds:.1} s; later ones are counted in the table"
        )
    }
}

/// Turn of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointTurn<'a> {
    /// The base URL.
    pub endpoint: &'a str,
    /// What is new of it.
    pub news: EndpointNews,
}

impl fmt::Display for EndpointTurn<'_> {
    /// What happened, and what it means for who waits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = self.endpoint;
        match self.news {
            EndpointNews::Silent => write!(
                f,
                "{endpoint} does not answer: all that ask it wait, and one tries again, ever more rarely"
            ),
            EndpointNews::Back { after } => {
                write!(f, "{endpoint} answers again, after {} s", after.as_secs())
            }
        }
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

    /// What has just changed for all that wait: an endpoint fell silent or is back, an agent was stopped, a cap is near.
    fn news(&self, _what: &str) {}

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
            attempts: Some(5),
            wait: Duration::from_secs(2),
        };
        assert_eq!(
            failed.to_string(),
            "cannot connect to http://127.0.0.1:9/v1 (attempt 1 of 5), trying again in 2.0 s; later ones are counted in \
             the table"
        );
    }
}
