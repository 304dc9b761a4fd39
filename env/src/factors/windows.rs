//! Statistics of many consecutive windows at once: for each the sums of [`super::moments`], bit for bit.
//!
//! Windows of consecutive days overlap, but each is summed afresh, so that its bits depend on its own values alone. What
//! is saved is waiting: the sums of several windows run next to each other in one vector. `pulp` chooses at run time
//! among copies of one and the same code, each of which may use wider vectors than the one before; what such a copy
//! calls must be inlined into it. No product is fused with an addition, so that the choice moves no bits.

use super::moments::{LANES, ROUNDING, count, finite_or_missing};
use super::moments::{mean, negative_skewness, standard_deviation, variation};
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
        let first = column.len();
        column.resize(first + windows, f64::NAN);
        let into = column.get_mut(first..).unwrap_or_default();
        Arch::new().dispatch(Fill {
            statistic: self,
            values,
            length,
            into,
        });
        let whole = windows - windows % TOGETHER;
        let rest = values.windows(length.max(1)).zip(into).skip(whole);
        for (values, value) in rest {
            *value = self.of(values);
        }
    }
}

/// Correlations of consecutive windows of two columns, as [`Statistic::of_each`] has them.
pub(super) fn correlations(left: &[f64], right: &[f64], length: usize, column: &mut Vec<f64>) {
    let windows = (left.len().min(right.len()) + 1).saturating_sub(length);
    let first = column.len();
    column.resize(first + windows, f64::NAN);
    let into = column.get_mut(first..).unwrap_or_default();
    Arch::new().dispatch(Correlate {
        left,
        right,
        length,
        into,
    });
    let whole = windows - windows % TOGETHER;
    let length = length.max(1);
    let pairs = left.windows(length).zip(right.windows(length));
    for ((left, right), value) in pairs.zip(into).skip(whole) {
        *value = super::moments::correlation(left, right);
    }
}

/// All windows but the last few, which do not fill a group.
struct Fill<'a> {
    statistic: Statistic,
    values: &'a [f64],
    length: usize,
    into: &'a mut [f64],
}

impl NullaryFnOnce for Fill<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let groups = self.into.as_chunks_mut::<TOGETHER>().0.iter_mut().enumerate();
        for (place, group) in groups {
            let windows = of_group(self.values, place, self.length);
            *group = match self.statistic {
                Statistic::Mean => means(windows, self.length),
                Statistic::StandardDeviation => standard_deviations(windows, self.length).1,
                Statistic::Variation => variations(windows, self.length),
                Statistic::NegativeSkewness => negative_skewnesses(windows, self.length),
            };
        }
    }
}

struct Correlate<'a> {
    left: &'a [f64],
    right: &'a [f64],
    length: usize,
    into: &'a mut [f64],
}

impl NullaryFnOnce for Correlate<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let groups = self.into.as_chunks_mut::<TOGETHER>().0.iter_mut().enumerate();
        for (place, group) in groups {
            let left = of_group(self.left, place, self.length);
            let right = of_group(self.right, place, self.length);
            let (left_means, right_means) = (means(left, self.length), means(right, self.length));
            let left_squares = squares(left, self.length, &left_means);
            let right_squares = squares(right, self.length, &right_means);
            let products = products([left, right], self.length, [&left_means, &right_means]);
            let squares = left_squares.into_iter().zip(right_squares);
            for ((value, product), (left, right)) in group.iter_mut().zip(products).zip(squares) {
                *value = if ROUNDING < left && ROUNDING < right {
                    finite_or_missing(product / (left * right).sqrt())
                } else {
                    f64::NAN
                };
            }
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
    const NONE: &Group = &[0.0; TOGETHER];
    let values = step.get(place..).and_then(<[f64]>::first_chunk);
    values.unwrap_or(NONE)
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
fn means(values: &[f64], length: usize) -> Group {
    let sums = sums(values, length, &[0.0; TOGETHER], |value, _| value);
    sums.map(|sum| finite_or_missing(sum / count(length)))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn squares(values: &[f64], length: usize, means: &Group) -> Group {
    sums(values, length, means, |value, mean| {
        (value - mean) * (value - mean)
    })
}

/// Means and standard deviations.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn standard_deviations(values: &[f64], length: usize) -> (Group, Group) {
    let means = means(values, length);
    if length < 2 {
        return (means, [f64::NAN; TOGETHER]);
    }
    let squares = squares(values, length, &means);
    let deviations = squares.map(|squares| finite_or_missing((squares / (count(length) - 1.0)).sqrt()));
    (means, deviations)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn variations(values: &[f64], length: usize) -> Group {
    let (means, mut variations) = standard_deviations(values, length);
    for (variation, mean) in variations.iter_mut().zip(means) {
        let ratio = finite_or_missing(*variation / mean);
        *variation = if 0.0 < mean { ratio } else { f64::NAN };
    }
    variations
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn negative_skewnesses(values: &[f64], length: usize) -> Group {
    let means = means(values, length);
    let squares = squares(values, length, &means);
    let mut skewnesses = sums(values, length, &means, |value, mean| {
        (value - mean) * (value - mean) * (value - mean)
    });
    let n = count(length);
    for (skewness, squares) in skewnesses.iter_mut().zip(squares) {
        let numerator = n * (n - 1.0) * (n - 1.0).sqrt() * *skewness;
        let value = finite_or_missing(-numerator / ((n - 1.0) * (n - 2.0) * squares * squares.sqrt()));
        let told = 3 <= length && ROUNDING < squares;
        *skewness = if told { value } else { f64::NAN };
    }
    skewnesses
}

/// Sums of the products of two columns' deviations.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn products(columns: [&[f64]; 2], length: usize, means: [&Group; 2]) -> Group {
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
    use super::super::moments::correlation;
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
            correlations(&left, &right, length, &mut together);
            let pairs = left.windows(length).zip(right.windows(length));
            let alone = pairs.map(|(left, right)| correlation(left, right));
            assert_eq!(bits(together), bits(alone), "correlation of {length}");
        }
    }

    #[test]
    fn wider_vectors_move_no_bits() {
        let values = values(7919);
        for statistic in [Statistic::Variation, Statistic::NegativeSkewness] {
            let mut into = vec![0.0; 200];
            let fill = Fill {
                statistic,
                values: &values,
                length: 60,
                into: &mut into,
            };
            fill.call();
            let mut wide = vec![];
            statistic.of_each(&values, 60, &mut wide);
            assert_eq!(bits(into), bits(wide.into_iter().take(200)));
        }
    }
}
