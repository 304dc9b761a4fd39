//! Limits of an API key.

use schemars::JsonSchema;
use serde::Deserialize;
use std::num::NonZeroU32;

/// `[rates.KEY]` of an experiment, or `rates` of an agent. What is left out has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RateLimits {
    /// Requests in any 60 seconds.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens in any 60 seconds, of requests and replies.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Requests in any second; left out, those of five seconds at an even pace.
    pub burst: Option<NonZeroU32>,
    /// Calls at once.
    pub in_flight: Option<NonZeroU32>,
}

impl RateLimits {
    /// Whether requests or tokens a minute are limited.
    #[must_use]
    pub const fn has_rate(&self) -> bool {
        self.requests_per_minute.is_some() || self.tokens_per_minute.is_some()
    }

    /// The stricter of both, limit by limit.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let stricter = |left: Option<NonZeroU32>, right: Option<NonZeroU32>| match (left, right) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (left, right) => left.or(right),
        };
        Self {
            requests_per_minute: stricter(self.requests_per_minute, other.requests_per_minute),
            tokens_per_minute: stricter(self.tokens_per_minute, other.tokens_per_minute),
            burst: stricter(self.burst, other.burst),
            in_flight: stricter(self.in_flight, other.in_flight),
        }
    }
}
