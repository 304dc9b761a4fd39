//! The one product of matrices under all networks.

use crate::real::Real;
use pulp::{Arch, NullaryFnOnce};

/// Code widened for the machine. Sums keep their order in every width, and no product is fused with an addition, so that
/// bits do not depend on the machine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kernel(Arch);

impl Kernel {
    /// `sums += left * right` of row-major matrices: `left` has rows of `inner`, `right` and `sums` rows of `width`.
    pub(crate) fn add_product<T: Real>(self, left: &[T], right: &[T], width: usize, sums: &mut [T]) {
        let inner = right.len().checked_div(width).unwrap_or(0);
        if inner == 0 {
            return;
        }
        self.0.dispatch(Product {
            left,
            right,
            inner,
            width,
            sums,
        });
    }

    /// Runs a loop widened.
    pub(crate) fn run<F: NullaryFnOnce>(self, work: F) -> F::Output {
        self.0.dispatch(work)
    }
}

struct Product<'a, T> {
    left: &'a [T],
    right: &'a [T],
    inner: usize,
    width: usize,
    sums: &'a mut [T],
}

impl<T: Real> NullaryFnOnce for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let rows = self.left.chunks_exact(self.inner);
        for (factors, sums) in rows.zip(self.sums.chunks_exact_mut(self.width)) {
            let (fours, rest) = factors.as_chunks::<4>();
            let mut blocks = self.right.chunks_exact(4 * self.width);
            for (four, block) in fours.iter().zip(&mut blocks) {
                add_four(sums, *four, block, self.width);
            }
            let done = 4 * fours.len() * self.width;
            let left_over = self.right.get(done..).unwrap_or(&[]);
            for (factor, row) in rest.iter().zip(left_over.chunks_exact(self.width)) {
                add_scaled(sums, row, *factor);
            }
        }
    }
}

/// Adds four rows, each times its factor, one after another: sums are kept in registers meanwhile.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn add_four<T: Real>(sums: &mut [T], factors: [T; 4], block: &[T], width: usize) {
    let [a, b, c, d] = factors;
    let (first, second) = block.split_at(2 * width);
    let ((one, two), (three, four)) = (first.split_at(width), second.split_at(width));
    for ((((sum, one), two), three), four) in sums.iter_mut().zip(one).zip(two).zip(three).zip(four) {
        *sum = *sum + a * *one + b * *two + c * *three + d * *four;
    }
}

/// Adds `factor` times a row.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
pub(crate) fn add_scaled<T: Real>(sums: &mut [T], row: &[T], factor: T) {
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum += factor * *value;
    }
}

/// The sum of the products of two rows, in order.
pub(crate) fn dot<T: Real>(left: &[T], right: &[T]) -> T {
    let products = left.iter().zip(right).map(|(left, right)| *left * *right);
    products.fold(T::default(), |sum, product| sum + product)
}

/// Writes the transpose of row-major rows of `width` over `turned`.
pub(crate) fn transpose<T: Real>(rows: &[T], width: usize, turned: &mut Vec<T>) {
    turned.clear();
    for column in 0..width {
        turned.extend(rows.iter().skip(column).step_by(width));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_by_hand() {
        // Five inner places: one block of four and a rest.
        let left = [1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 0.0, 1.0, 0.5];
        let right = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0, 6.0, 60.0];
        let mut sums = [100.0, 0.0, 0.0, 0.0];
        Kernel::default().add_product(&left, &right, 2, &mut sums);
        assert!(
            sums.iter()
                .zip([160.0, 600.0, 9.0, 90.0])
                .all(|(sum, by_hand)| f64::abs(sum - by_hand) < 1e-12)
        );
        let mut turned = Vec::new();
        transpose(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, &mut turned);
        assert!(
            turned
                .iter()
                .zip([1.0, 4.0, 2.0, 5.0, 3.0, 6.0])
                .all(|(found, by_hand)| f64::abs(found - by_hand) < 1e-12)
        );
    }

    #[test]
    fn nothing_is_added_without_an_inner_place() {
        let mut sums = [1.0_f32; 3];
        Kernel::default().add_product(&[], &[], 3, &mut sums);
        Kernel::default().add_product(&[1.0], &[], 0, &mut sums);
        assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-9));
    }
}
