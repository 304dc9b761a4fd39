//! Sums over rows, several at a time.
//!
//! Every sum over rows runs in [`LANES`] partial sums that are joined in one order. That order is part of the result's
//! bits, the same on every machine: a machine with wide vectors adds several lanes at once, and no product is ever
//! fused with an addition. `pulp` chooses at run time among copies of one and the same code, each of which may use
//! wider vectors than the one before; what such a copy calls must be inlined into it.

/// Partial sums kept side by side: as many as the widest vectors hold.
pub(super) const LANES: usize = 8;

/// Consecutive rows of one column, aligned so that no vector straddles two cache lines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(64))]
pub(super) struct Rows(pub(super) [f64; LANES]);

impl Rows {
    pub(super) const ZERO: Self = Self([0.0; LANES]);

    /// Up to [`LANES`] rows, with rows of zero after them.
    pub(super) fn padded(rest: &[f64]) -> Self {
        let mut rows = Self::ZERO;
        for (row, value) in rows.0.iter_mut().zip(rest) {
            *row = *value;
        }
        rows
    }

    /// Adds products row by row.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    pub(super) fn add_products(&mut self, left: &[f64; LANES], right: &[f64; LANES]) {
        for ((sum, left), right) in self.0.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }

    /// The sum of all lanes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    pub(super) fn join(self) -> f64 {
        let (left, right) = self.0.split_at(LANES / 2);
        let mut half = [0.0; LANES / 2];
        for ((sum, left), right) in half.iter_mut().zip(left).zip(right) {
            *sum = left + right;
        }
        let [first, second, third, fourth] = half;
        (first + third) + (second + fourth)
    }
}
