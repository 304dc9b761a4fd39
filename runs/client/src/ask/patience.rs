//! How often and how long a request is sent again.

use ktd_experiment::config::RetryConfig;
use std::time::Duration;
use tokio::time::Instant;

/// Failed attempts at one request, against what is allowed of them.
pub(super) struct Patience {
    retries: RetryConfig,
    tries: u32,
    unheard_tries: u32,
    unanswered_since: Option<Instant>,
}

/// An attempt that failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failure {
    /// Whether something came back.
    pub(super) is_answered: bool,
    /// Whether it was made now.
    pub(super) is_live: bool,
    /// Whether the endpoint has ever answered.
    pub(super) is_heard: bool,
    /// How long it has answered nobody, whoever asked.
    pub(super) silent_for: Option<Duration>,
}

impl Patience {
    pub(super) const fn new(retries: RetryConfig) -> Self {
        Self {
            retries,
            tries: 0,
            unheard_tries: 0,
            unanswered_since: None,
        }
    }

    /// Whether a request that nobody answers waits for whoever does, so that it uses up no attempt.
    pub(super) const fn waits(&self) -> bool {
        0 < self.retries.unanswered_hours
    }

    /// An attempt failed. One that was answered, if badly, is used up, and what is recorded counts as what is made now, so that
    /// a request is given up in every run or in none. An endpoint that nobody has ever heard has no more patience.
    pub(super) fn failed(&mut self, failure: Failure) {
        if failure.is_answered || !self.waits() {
            self.tries = self.tries.saturating_add(1);
            self.unanswered_since = None;
        } else if failure.is_live {
            let now = Instant::now();
            let silent = failure.silent_for.and_then(|silent| now.checked_sub(silent));
            let since = self.unanswered_since.unwrap_or(now);
            self.unanswered_since = Some(silent.map_or(since, |silent| silent.min(since)));
            self.unheard_tries += u32::from(!failure.is_heard);
        }
    }

    /// Whether another attempt may be made.
    pub(super) fn has_more(&self) -> bool {
        self.tries < self.retries.attempts && !self.is_over()
    }

    /// Whether nobody has answered for as long as one waits.
    pub(super) fn is_over(&self) -> bool {
        let longest = Duration::from_secs(u64::from(self.retries.unanswered_hours) * 3_600);
        let is_long = self
            .unanswered_since
            .is_some_and(|since| longest <= since.elapsed());
        is_long || self.was_never_heard()
    }

    /// Whether that is because the endpoint has never answered.
    pub(super) const fn was_never_heard(&self) -> bool {
        0 < self.retries.attempts && self.retries.attempts <= self.unheard_tries
    }
}
