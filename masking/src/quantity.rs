//! Counts and places of the harness's own things: the only numbers that become payloads without passing a mask.
//!
//! Whatever is measured on a market or an account (prices, returns, scores, weights, how many rose) converts only
//! through the methods of [`crate::Mask`], because how much of it may be shown is a setting.

/// How many of something that a market does not decide (steps, orders, characters). Counts of a market go through
/// [`crate::Mask::market_count`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(u32);

impl Count {
    /// The number of items in a collection.
    #[must_use]
    pub fn of(count: usize) -> Self {
        Self(u32::try_from(count).unwrap_or(u32::MAX))
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

/// A place in an order, 1 for the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u32);

impl Rank {
    /// The rank of the item at a 0-based position.
    #[must_use]
    pub fn of_position(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX - 1).saturating_add(1))
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Payload;

    #[test]
    fn counts_and_ranks_saturate() {
        assert_eq!(Payload::from(Count::of(7)).to_json(), "7");
        assert_eq!(Payload::from(Rank::of_position(0)).to_json(), "1");
        assert_eq!(
            Payload::from(Count::of(usize::MAX)).to_json(),
            u32::MAX.to_string()
        );
    }
}
