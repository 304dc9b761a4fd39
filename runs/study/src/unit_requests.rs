//! What a unit asks its model, as nearly as a kind can say before anybody is asked.

/// Requests of a unit that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlikeRequests {
    /// How many.
    pub count: u64,
    /// Tokens of each.
    pub tokens_in: u64,
    /// Tokens of each reply.
    pub tokens_out: u64,
}

/// What a unit asks its model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitRequests {
    /// Usually.
    pub usual: Vec<AlikeRequests>,
    /// At most.
    pub most: Vec<AlikeRequests>,
}
