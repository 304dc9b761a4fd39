//! How an agent's runs went: what became of their orders.

use serde::{Deserialize, Serialize};

/// What became of an agent's orders, over all seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderCounts {
    /// Orders that reached the exchange.
    pub submitted: usize,
    /// Orders that traded.
    pub filled: usize,
    /// Orders that did not, by code, in the order of the exchange's checks.
    pub rejected: Vec<RejectedOrders>,
}

/// Orders that broke one rule of the exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
