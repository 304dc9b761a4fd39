//! How an agent's runs went: what became of their orders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of an agent's orders, over all seeds.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderCounts {
    /// Orders that reached the exchange.
    pub submitted: usize,
    /// Orders that traded.
    pub filled: usize,
    /// Orders that did not, by code, in the order of the exchange's checks.
    pub rejected: Vec<RejectedOrders>,
    /// Those that met an open at the limit of their side, whatever the rule made of them.
    pub limit_opens: LimitOpenCounts,
}

/// Orders that met an open at the price limit of their side: a buy at the upper, a sell at the lower.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitOpenCounts {
    /// The price left the limit later on the day: filled under `limit_open = "queue"`, refused under `"blocked"`.
    pub left: usize,
    /// It stayed there all day: refused.
    pub sealed: usize,
    /// The open lay beyond the exchange's limit, so there was none: filled under `no_limit_beyond`.
    pub beyond: usize,
}

/// Orders that broke one rule of the exchange.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectedOrders {
    /// The exchange's stable code.
    pub code: String,
    /// Orders that it rejected.
    pub orders: usize,
    /// The same over all orders that reached the exchange; `null` where none did.
    pub share: Option<f64>,
    /// Submissions that were fed back for it before any order of theirs reached the exchange.
    pub fed_back: usize,
}
