//! What a step may use up: turns, tool answers, attempts.

use crate::agent::AgentConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of a step's conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionConfig {
    /// Tool calls a step.
    pub max_tool_calls: u32,
    /// Submissions that may be corrected.
    pub schema_retries: u32,
    /// What a submission meets that parses but breaks a rule known at decision.
    pub constraint_failures: ConstraintFailures,
}

/// What becomes of orders that break a rule known at decision (unknown name, lot, weight, room ...).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstraintFailures {
    /// They are fed back like a schema failure, within the same retries; then the step is without trade (default).
    FeedBack,
    /// The exchange rejects them alone and the rest of the batch goes on.
    RejectAlone,
}

/// What is done about infrastructure faults: the same bytes are sent again, and the model never learns of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetryConfig {
    /// Attempts at one request whose answer cannot be used; without `unanswered_hours` of any request.
    pub attempts: u32,
    /// First wait, milliseconds; it doubles each time.
    pub first_wait_ms: u64,
    /// Longest wait of our own, milliseconds. A provider's `retry-after` is honoured beyond it, up to an hour.
    pub longest_wait_ms: u64,
    /// So long an endpoint that does not answer is asked again, hours; then whoever asks stops, and goes on at the same
    /// request when started again. With 0 the request is given up after `attempts`, and a step is lost.
    pub unanswered_hours: u32,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            max_tool_calls: 20,
            schema_retries: 3,
            constraint_failures: ConstraintFailures::FeedBack,
        }
    }
}

impl RetryConfig {
    /// What is done about the faults of this agent: a program on this machine that does not answer is broken, and nobody
    /// waits for it.
    #[must_use]
    pub fn of(self, agent: &AgentConfig) -> Self {
        if agent.model().is_some() {
            return self;
        }
        Self {
            unanswered_hours: 0,
            ..self
        }
    }
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            attempts: 6,
            first_wait_ms: 1_000,
            longest_wait_ms: 60_000,
            unanswered_hours: 24,
        }
    }
}
