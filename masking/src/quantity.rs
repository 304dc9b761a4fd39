//! Scale-free quantities: the only numbers that become payloads without passing a mask.
//!
//! Prices, share counts, volumes, index levels and money tell which stock they belong to, so they convert only
//! through the methods of [`crate::Mask`].

/// How many of something (candidates, days, orders).
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

/// A dimensionless number (return, weight, z-score, share of something), shown with a fixed number of decimals.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Ratio {
    value: f64,
    decimals: u32,
}

impl Ratio {
    /// A fraction, shown with four decimals (0.0123 is 1.23 %).
    #[must_use]
    pub const fn fraction(value: f64) -> Self {
        Self { value, decimals: 4 }
    }

    /// A z-score or another number of order one, shown with three decimals.
    #[must_use]
    pub const fn score(value: f64) -> Self {
        Self { value, decimals: 3 }
    }

    /// A portfolio weight, shown with six decimals, which is what an order may carry.
    #[must_use]
    pub const fn weight(value: f64) -> Self {
        Self { value, decimals: 6 }
    }

    pub(crate) const fn get(self) -> f64 {
        self.value
    }

    pub(crate) const fn decimals(self) -> u32 {
        self.decimals
    }
}
