//! The public events of an episode, in what the model may see.

use ktd_agents::{ForceLevel, SUBMIT_ACTION, Usage};
use ktd_masking::{Level, Mode, Payload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One event. `S` is what shown values are: [`Payload`] when written (only a mask makes one), JSON when read back.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event<S> {
    /// The episode begins.
    EpisodeBegin {
        /// The decision mode.
        mode: Mode,
        /// Cash before the first day, fen.
        initial_cash_fen: i64,
    },
    /// A step begins.
    StepBegin {
        /// 1-based.
        step: usize,
        /// The trading day on whose open orders execute, as shown.
        day: S,
        /// The as-of day, as shown.
        as_of: S,
    },
    /// A request was answered by a turn of the model.
    Turn {
        /// 1-based step.
        step: usize,
        /// 0-based request of the step.
        ordinal: u32,
        /// In which phase of the step.
        phase: Phase,
        /// SHA-256 of the canonical request.
        request: String,
        /// SHA-256 of the reply's body.
        reply: String,
        /// Tools called, as the model named them.
        tool_calls: Vec<String>,
        /// How submissions are forced, as the experiment declares it.
        force_declared: ForceLevel,
        /// How this request was forced; absent in research, where the choice is free.
        force_sent: Option<ForceLevel>,
        /// What had to be repaired to read the reply, by code.
        normalised: Vec<String>,
        /// The model that answered, as the provider says.
        served_model: Option<String>,
        /// The provider's fingerprint of its configuration.
        fingerprint: Option<String>,
        /// Tokens.
        usage: Usage,
    },
    /// An attempt at a request failed for a reason that is not the model's.
    InfrastructureFault {
        /// 1-based step.
        step: usize,
        /// 0-based request of the step.
        ordinal: u32,
        /// 0-based attempt.
        attempt: u32,
        /// The stable name of the fault.
        code: String,
    },
    /// A tool was called.
    ToolCall {
        /// 1-based step.
        step: usize,
        /// The tool, as the model named it.
        name: String,
        /// The stable code of a refusal.
        refused: Option<String>,
    },
    /// A submission was refused or was none.
    ModelFault {
        /// 1-based step.
        step: usize,
        /// The stable code.
        code: String,
        /// What exactly a refused submission broke.
        detail: Option<String>,
    },
    /// A step's decision.
    Decision {
        /// 1-based step.
        step: usize,
        /// How the step ended.
        outcome: StepOutcome,
        /// The orders, in the model's words.
        orders: Vec<OrderRecord>,
        /// The model's reason for the whole.
        overall_reason: Option<String>,
        /// Whether the model's words were repaired to read its submission: it then counts in the lenient column alone.
        is_repaired: bool,
    },
    /// The outcome of the orders, as the model reads it.
    Fills {
        /// 1-based step.
        step: usize,
        /// One entry an order.
        fills: S,
    },
    /// The account at the close.
    StepEnd {
        /// 1-based step.
        step: usize,
        /// The exact mark, where the mask hides nothing ([`publishes_account`]); of all others it follows from the
        /// private ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mark: Option<Mark>,
        /// Holdings as shown.
        holdings: S,
        /// Binds the line of the private ledger without telling it.
        ledger: String,
    },
    /// The episode ended.
    EpisodeEnd {
        /// [`COMPLETED`], [`WITHDRAWN`], or [`STOPPED`] and why.
        reason: String,
    },
}

impl<S> Event<S> {
    /// How often a turn of the model called the tool that submits during research: a wish, whose orders do not count.
    #[must_use]
    pub fn early_submissions(&self) -> usize {
        let Self::Turn {
            phase: Phase::Research,
            tool_calls,
            ..
        } = self
        else {
            return 0;
        };
        tool_calls.iter().filter(|name| *name == SUBMIT_ACTION).count()
    }
}

/// The reason of an episode that was played to its last step.
pub const COMPLETED: &str = "completed";
/// The reason of an episode whose agent is gone: nobody can play the rest.
pub const WITHDRAWN: &str = "withdrawn";
/// Begins the reason of an episode that a rule of `stop_after` ended.
pub const STOPPED: &str = "stopped: ";

/// An event as it is written.
pub type WrittenEvent = Event<Payload>;

/// An event as it is read back.
pub type ReadEvent = Event<Value>;

/// A phase of a step's conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The model asks, the tools answer.
    Research,
    /// The model must submit.
    Submission,
}

/// How a step ended. The three kinds are never mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// The model submitted orders.
    Submitted,
    /// The model submitted an empty list: a decision to hold.
    Hold,
    /// The model's submissions were bad until the retries were used up: no trade.
    Fallback,
    /// The infrastructure failed until its attempts were used up: no trade, and no decision of the model.
    Uncovered,
}

/// An order in the model's own words.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderRecord {
    /// The name as the model wrote it.
    pub stock_id: String,
    /// `BUY` or `SELL`.
    pub side: String,
    /// Millionths of NAV.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_weight_millionths: Option<u32>,
    /// Shares.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shares: Option<i64>,
    /// In `[0, 1]`.
    pub confidence: f64,
    /// Why.
    pub reason: String,
}

/// Whether a bundle of this level holds the account's exact totals in its public part. A path of net asset values dates an
/// episode, and one traded value divided by a price names a stock: where either is hidden, they are private.
#[must_use]
pub const fn publishes_account(level: Level) -> bool {
    !level.hides_stocks() && !level.hides_days()
}

/// The account at a close, in exact totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Net asset value, fen.
    pub nav_fen: i64,
    /// Cash, fen.
    pub cash_fen: i64,
    /// Fees of the day, fen.
    pub fees_fen: i64,
    /// Value of the day's trades, buys and sells, fen.
    pub traded_value_fen: i64,
    /// Sum of squared position values over squared NAV, in billionths.
    pub hhi_billionths: u64,
    /// Names held.
    pub positions: usize,
    /// Orders that traded.
    pub filled: usize,
    /// Orders that did not.
    pub rejected: usize,
    /// Of those that traded, the ones cut down by cash or a corporate action.
    pub clipped: usize,
    /// Names delisted at this close.
    pub delisted: usize,
    /// Names held without a bar today.
    pub stale: usize,
}
