//! What spreads are divided by.

/// What sums of squares are divided by in spreads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadDivisor {
    /// n - 1, as the language says.
    Sample,
    /// n: the spread of a population, a common mistake.
    Population,
}
