//! One value for each basis on which a return is split.

use ktd_attribution::account::Basis;
use serde::{Deserialize, Serialize};

/// One value for each basis on which a return is split.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub fn new(mut of: impl FnMut(Basis) -> T) -> Self {
        Self {
            pre: of(Basis::Pre),
            post: of(Basis::Post),
            two: of(Basis::Two),
        }
    }

    /// The value of a basis.
    #[must_use]
    pub const fn get(&self, basis: Basis) -> &T {
        match basis {
            Basis::Pre => &self.pre,
            Basis::Post => &self.post,
            Basis::Two => &self.two,
        }
    }

    /// The value of a basis, to be set.
    pub const fn get_mut(&mut self, basis: Basis) -> &mut T {
        match basis {
            Basis::Pre => &mut self.pre,
            Basis::Post => &mut self.post,
            Basis::Two => &mut self.two,
        }
    }

    /// The values in the order of [`Basis::ALL`].
    pub fn values(&self) -> impl Iterator<Item = &T> {
        Basis::ALL.into_iter().map(|basis| self.get(basis))
    }
}
