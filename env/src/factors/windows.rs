//! Statistics of many consecutive windows at once: for each the sums of [`super::moments`], bit for bit.
//!
//! Windows of consecutive days overlap, but each is summed afresh, so that its bits depend on its own values alone. What
//! is saved is waiting: the sums of several windows run next to each other in one vector. `pulp` chooses at run time
//! among copies of one and the same code, each of which may use wider vectors than the one before; what such a copy
//! calls must be inlined into it. No product is fused with an addition, so that the choice moves no bits.

use super::moments::{LANES, count, finite_or_missing, skewness_of, standard_deviation_of, variation_of};
use super::moments::{correlation, correlation_of, mean, negative_skewness, standard_deviation, variation};
use pulp::{Arch, NullaryFnOnce};

/// Windows whose sums run next to each other.
pub(super) const TOGETHER: usize = 8;

/// Values that one step of [`TOGETHER`] windows reads.
const REACH: usize = TOGETHER + LANES - 1;

/// One number a window.
type Group = [f64; TOGETHER];

/// A statistic of the values in a window.
#[derive(Debug, Clone, Copy)]
pub(super) enum Statistic {
    Mean,
    StandardDeviation,
    Variation,
    NegativeSkewness,
}

impl Statistic {
    /// Of one window.
    pub(super) fn of(self, values: &[f64]) -> f64 {
        match self {
            Self::Mean => mean(values),
            Self::StandardDeviation => standard_deviation(values),
            Self::Variation => variation(values),
            Self::NegativeSkewness => negative_skewness(values),
        }
    }

    /// Of consecutive windows of `length` values, each of which begins one value after the one before: the first at the
    /// first of `values`, the last ends with the last one.
    pub(super) fn of_each(self, values: &[f64], length: usize, column: &mut Vec<f64>) {
        let windows = (values.len() + 1).saturating_sub(length);
        let whole = windows - windows % TOGETHER;
        let [mut means, mut squares, mut cubes] = [vec![0.0; whole], Vec::new(), Vec::new()];
        if !matches!(self, Self::Mean) {
            squares.resize(whole, 0.0);
        }
        if matches!(self, Self::NegativeSkewness) {
            cubes.resize(whole, 0.0);
        }
        Arch::new().dispatch(Moments {
            values,
            length,
            means: &mut means,
            squares: &mut squares,
            cubes: &mut cubes,
        });
        let moments = means.iter().zip(&squares);
        match self {
            Self::Mean => column.extend(&means),
            Self::StandardDeviation => {
                column.extend(
                    squares
                        .iter()
                        .map(|squares| standard_deviation_of(*squares, length)),
                );
            }
            Self::Variation => {
                column.extend(moments.map(|(mean, squares)| variation_of(*mean, *squares, length)));
            }
            Self::NegativeSkewness => {
                let moments = squares.iter().zip(&cubes);
                column.extend(moments.map(|(squares, cubes)| skewness_of(*squares, *cubes, length)));
            }
        }
        let rest = values.windows(length.max(1)).skip(whole);
        column.extend(rest.map(|values| self.of(values)));
    }
}

/// The largest value of each of consecutive windows, as [`Statistic::of_each`] has them.
///
/// Values are cut into blocks as long as a window, which then is the end of one block and the beginning of the next.
/// Source: van Herk 1992; Gil and Werman 1993.
pub(super) fn largest_of_each(values: &[f64], length: usize, column: &mut Vec<f64>) {
    let greater = |champion: &mut f64, value: &f64| {
        *champion = if *champion < *value { *value } else { *champion };
        Some(*champion)
    };
    let mut from_start = Vec::with_capacity(values.len());
    let mut to_end = vec![f64::NAN; values.len()];
    let blocks = values.chunks(length.max(1)).zip(to_end.chunks_mut(length.max(1)));
    for (block, to_end) in blocks {
        from_start.extend(block.iter().scan(f64::NEG_INFINITY, greater));
        let backwards = block.iter().rev().scan(f64::NEG_INFINITY, greater);
        for (cell, largest) in to_end.iter_mut().rev().zip(backwards) {
            *cell = largest;
        }
    }
    let windows = to_end
        .iter()
        .zip(from_start.iter().skip(length.saturating_sub(1)));
    column.extend(windows.map(|(end, start)| if *end < *start { *start } else { *end }));
}

/// Correlations of consecutive windows of two columns, as [`Statistic::of_each`] has them.
pub(super) fn correlations(left: &[f64], right: &[f64], length: usize, column: &mut Vec<f64>) {
    let windows = (left.len().min(right.len()) + 1).saturating_sub(length);
    let whole = windows - windows % TOGETHER;
    let [mut products, mut left_squares, mut right_squares] =
        [vec![0.0; whole], vec![0.0; whole], vec![0.0; whole]];
    Arch::new().dispatch(Comoments {
        left,
        right,
        length,
        products: &mut products,
        left_squares: &mut left_squares,
        right_squares: &mut right_squares,
    });
    let squares = left_squares.iter().zip(&right_squares);
    let moments = products.iter().zip(squares);
    column.extend(moments.map(|(products, (left, right))| correlation_of(*products, *left, *right)));
    let length = length.max(1);
    let rest = left.windows(length).zip(right.windows(length)).skip(whole);
    column.extend(rest.map(|(left, right)| correlation(left, right)));
}

/// Means, and where there is room for them sums of squared and of cubed deviations, of all windows but the last few,
/// which do not fill a group.
struct Moments<'a> {
    values: &'a [f64],
    length: usize,
    means: &'a mut [f64],
    squares: &'a mut [f64],
    cubes: &'a mut [f64],
}

impl NullaryFnOnce for Moments<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let (values, length) = (self.values, self.length);
        let (means, _) = self.means.as_chunks_mut::<TOGETHER>();
        for (place, means) in means.iter_mut().enumerate() {
            *means = means_of(of_group(values, place, length), length);
        }
        let (squares, _) = self.squares.as_chunks_mut::<TOGETHER>();
        for (place, (squares, means)) in squares.iter_mut().zip(&*means).enumerate() {
            *squares = squares_of(of_group(values, place, length), length, means);
        }
        let (cubes, _) = self.cubes.as_chunks_mut::<TOGETHER>();
        for (place, (cubes, means)) in cubes.iter_mut().zip(&*means).enumerate() {
            *cubes = sums(of_group(values, place, length), length, means, |value, mean| {
                (value - mean) * (value - mean) * (value - mean)
            });
        }
    }
}

/// Sums of the products of two columns' deviations, and of their squares.
struct Comoments<'a> {
    left: &'a [f64],
    right: &'a [f64],
    length: usize,
    products: &'a mut [f64],
    left_squares: &'a mut [f64],
    right_squares: &'a mut [f64],
}

impl NullaryFnOnce for Comoments<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let length = self.length;
        let (products, _) = self.products.as_chunks_mut::<TOGETHER>();
        let (left_squares, _) = self.left_squares.as_chunks_mut::<TOGETHER>();
        let (right_squares, _) = self.right_squares.as_chunks_mut::<TOGETHER>();
        let squares = left_squares.iter_mut().zip(right_squares);
        for (place, (products, (left_squares, right_squares))) in products.iter_mut().zip(squares).enumerate()
        {
            let left = of_group(self.left, place, length);
            let right = of_group(self.right, place, length);
            let means = [means_of(left, length), means_of(right, length)];
            *left_squares = squares_of(left, length, &means[0]);
            *right_squares = squares_of(right, length, &means[1]);
            *products = products_of([left, right], length, [&means[0], &means[1]]);
        }
    }
}

/// The values of a group's windows.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn of_group(values: &[f64], place: usize, length: usize) -> &[f64] {
    let first = place * TOGETHER;
    values.get(first..first + length + TOGETHER - 1).unwrap_or(&[])
}

/// The values of a group's windows at one place of a step.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn at(step: &[f64; REACH], place: usize) -> &Group {
    let values = step.get(place..).and_then(<[f64]>::first_chunk);
    values.unwrap_or(&[0.0; TOGETHER])
}

/// Sums of `term(value, of)` over each window, in lanes that are joined as those of one window are.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn sums(values: &[f64], length: usize, of: &Group, term: impl Fn(f64, f64) -> f64) -> Group {
    let [mut first, mut second, mut third, mut fourth] = [[0.0; TOGETHER]; LANES];
    let steps = values.array_windows::<REACH>().step_by(LANES);
    for step in steps.take(length / LANES) {
        add(&mut first, at(step, 0), of, &term);
        add(&mut second, at(step, 1), of, &term);
        add(&mut third, at(step, 2), of, &term);
        add(&mut fourth, at(step, 3), of, &term);
    }
    let mut joined = join(&first, &second, &third, &fourth);
    for place in length - length % LANES..length {
        if let Some(values) = values.get(place..).and_then(<[f64]>::first_chunk) {
            add(&mut joined, values, of, &term);
        }
    }
    joined
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn add(sums: &mut Group, values: &Group, of: &Group, term: &impl Fn(f64, f64) -> f64) {
    for ((sum, value), of) in sums.iter_mut().zip(values).zip(of) {
        *sum += term(*value, *of);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn join(first: &Group, second: &Group, third: &Group, fourth: &Group) -> Group {
    let mut joined = [0.0; TOGETHER];
    let lanes = first.iter().zip(second).zip(third.iter().zip(fourth));
    for (joined, ((first, second), (third, fourth))) in joined.iter_mut().zip(lanes) {
        *joined = (first + second) + (third + fourth);
    }
    joined
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn means_of(values: &[f64], length: usize) -> Group {
    let mut means = sums(values, length, &[0.0; TOGETHER], |value, _| value);
    for mean in &mut means {
        *mean = finite_or_missing(*mean / count(length));
    }
    means
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn squares_of(values: &[f64], length: usize, means: &Group) -> Group {
    sums(values, length, means, |value, mean| {
        (value - mean) * (value - mean)
    })
}

/// Sums of the products of two columns' deviations.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn products_of(columns: [&[f64]; 2], length: usize, means: [&Group; 2]) -> Group {
    let [left, right] = columns;
    let [mut first, mut second, mut third, mut fourth] = [[0.0; TOGETHER]; LANES];
    let left_steps = left.array_windows::<REACH>().step_by(LANES);
    let right_steps = right.array_windows::<REACH>().step_by(LANES);
    for (left, right) in left_steps.zip(right_steps).take(length / LANES) {
        add_product(&mut first, [at(left, 0), at(right, 0)], means);
        add_product(&mut second, [at(left, 1), at(right, 1)], means);
        add_product(&mut third, [at(left, 2), at(right, 2)], means);
        add_product(&mut fourth, [at(left, 3), at(right, 3)], means);
    }
    let mut joined = join(&first, &second, &third, &fourth);
    for place in length - length % LANES..length {
        let values = |column: &'_ [f64]| column.get(place..).and_then(<[f64]>::first_chunk).copied();
        if let (Some(left), Some(right)) = (values(left), values(right)) {
            add_product(&mut joined, [&left, &right], means);
        }
    }
    joined
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn add_product(sums: &mut Group, values: [&Group; 2], means: [&Group; 2]) {
    let left = values[0].iter().zip(means[0]);
    let right = values[1].iter().zip(means[1]);
    for ((sum, (left, left_mean)), (right, right_mean)) in sums.iter_mut().zip(left).zip(right) {
        *sum += (left - left_mean) * (right - right_mean);
    }
}

#[cfg(test)]
mod tests {
    use super::super::moments::largest;
    use super::*;

    /// Values that vary, then a stretch that does not.
    fn values(factor: u32) -> Vec<f64> {
        let value = |place: u32| match place {
            140..200 => 0.25,
            _ => f64::from(place * factor % 1009) / 1009.0 - 0.3,
        };
        (0..260).map(value).collect()
    }

    fn bits(values: impl IntoIterator<Item = f64>) -> Vec<u64> {
        values.into_iter().map(f64::to_bits).collect()
    }

    #[test]
    fn windows_together_have_the_bits_of_each_alone() {
        let (left, right) = (values(7919), values(104_729));
        for length in [1, 2, 3, 4, 5, 14, 20, 57, 58, 59, 60, 259, 260] {
            for statistic in [
                Statistic::Mean,
                Statistic::StandardDeviation,
                Statistic::Variation,
                Statistic::NegativeSkewness,
            ] {
                let mut together = vec![];
                statistic.of_each(&left, length, &mut together);
                let alone = left.windows(length).map(|window| statistic.of(window));
                assert_eq!(bits(together), bits(alone), "{statistic:?} of {length}");
            }
            let mut together = vec![];
            largest_of_each(&left, length, &mut together);
            let alone = left.windows(length).map(largest);
            assert_eq!(bits(together), bits(alone), "largest of {length}");
            let mut together = vec![];
            correlations(&left, &right, length, &mut together);
            let pairs = left.windows(length).zip(right.windows(length));
            let alone = pairs.map(|(left, right)| correlation(left, right));
            assert_eq!(bits(together), bits(alone), "correlation of {length}");
        }
    }

    #[test]
    fn wider_vectors_move_no_bits() {
        let values = values(7919);
        let of = |wide: bool| {
            let [mut means, mut squares, mut cubes] = [vec![0.0; 200], vec![0.0; 200], vec![0.0; 200]];
            let moments = Moments {
                values: &values,
                length: 58,
                means: &mut means,
                squares: &mut squares,
                cubes: &mut cubes,
            };
            if wide {
                Arch::new().dispatch(moments);
            } else {
                moments.call();
            }
            bits([means, squares, cubes].concat())
        };
        assert_eq!(of(true), of(false));
    }
}
