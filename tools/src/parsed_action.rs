//! What a submission asks for, read and not yet judged.

use ktd_env::exchange::{Order, Quantity};
use ktd_masking::{Mask, Payload};

/// A submission that follows the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedAction {
    /// The orders in submitted order; none is a decision to hold.
    pub orders: Vec<ParsedOrder>,
    /// The model's words for the whole list. They may go to a log, never into a payload.
    pub overall_reason: String,
}

/// Order with the model's own reason and confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedOrder {
    /// The order for the exchange; its name is `None` where `stock_id` is no stock known in this episode.
    pub order: Order,
    /// The stock id as the model wrote it.
    pub stock_id: String,
    /// Probability in `[0, 1]`.
    pub confidence: f64,
    /// The model's reason, as written.
    pub reason: String,
}

impl ParsedOrder {
    /// Requested quantity as it may be shown to the model: a weight or, where share counts are shown, shares.
    pub(crate) fn requested(&self, mask: &Mask) -> Payload {
        match self.order.quantity {
            Quantity::Shares(shares) => mask.shares(shares),
            Quantity::TargetWeight(weight) => Payload::echoed_weight(weight),
        }
    }
}
