//! One value for each basis on which a return is split.

use ktd_attribution::account::WeightBasis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One value for each basis on which a return is split.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByBasis<T> {
    /// On weights before the day's trades.
    pub pre: T,
    /// On weights after them.
    pub post: T,
    /// Overnight on weights before, intraday on weights after.
    pub two: T,
}

impl<T> ByBasis<T> {
    /// The values that `of` gives.
    pub fn new(mut of: impl FnMut(WeightBasis) -> T) -> Self {
        Self {
            pre: of(WeightBasis::Pre),
            post: of(WeightBasis::Post),
            two: of(WeightBasis::Two),
        }
    }

    /// The value of a basis.
    #[must_use]
    pub const fn get(&self, basis: WeightBasis) -> &T {
        match basis {
            WeightBasis::Pre => &self.pre,
            WeightBasis::Post => &self.post,
            WeightBasis::Two => &self.two,
        }
    }

    /// The value of a basis, to be set.
    pub const fn get_mut(&mut self, basis: WeightBasis) -> &mut T {
        match basis {
            WeightBasis::Pre => &mut self.pre,
            WeightBasis::Post => &mut self.post,
            WeightBasis::Two => &mut self.two,
        }
    }

    /// The values in the order of [`WeightBasis::ALL`].
    pub fn values(&self) -> impl Iterator<Item = &T> {
        WeightBasis::ALL.into_iter().map(|basis| self.get(basis))
    }
}
