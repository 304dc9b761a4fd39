//! Mean, sum, variance, skewness, kurtosis and mean deviation of a window.

use crate::block::{WindowRow, WindowSums, fill, walk};
use crate::node::Statistic;

/// Below it, a standard deviation counts as none in correlations and explained shares: Qlib's own bound, absolute.
pub(crate) const LEAST_DEVIATION: f64 = 2e-5;

/// The number of present cells of a window, and their standard deviation.
pub(crate) type OwnCells = (f64, f64);

/// Sums of the first powers of distances from the anchor: `POWERS` of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PowerSums<const POWERS: usize> {
    count: f64,
    powers: [f64; POWERS],
}

impl<const POWERS: usize> Default for PowerSums<POWERS> {
    fn default() -> Self {
        Self {
            count: 0.0,
            powers: [0.0; POWERS],
        }
    }
}

impl<const POWERS: usize> WindowSums for PowerSums<POWERS> {
    type Cell = f64;
    type Anchor = f64;

    fn anchor(cell: f64) -> Option<f64> {
        (!cell.is_nan()).then_some(cell)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn add(&mut self, cell: f64, anchor: f64, _: f64) {
        let is_present = !cell.is_nan();
        let distance = if is_present { cell - anchor } else { 0.0 };
        self.count += if is_present { 1.0 } else { 0.0 };
        let mut power = 1.0;
        for sum in &mut self.powers {
            power *= distance;
            *sum += power;
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn is_empty(&self) -> bool {
        self.count < 0.5
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn joined(tail: Self, far: f64, head: Self, near: f64) -> Self {
        let shift = near - far;
        let moved = head.moved(shift);
        let mut joined = Self {
            count: tail.count + head.count,
            ..tail
        };
        for (sum, moved) in joined.powers.iter_mut().zip(moved) {
            *sum += moved;
        }
        joined
    }
}

impl<const POWERS: usize> PowerSums<POWERS> {
    /// The sums about an anchor that lies so far below: the binomial theorem.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn moved(&self, shift: f64) -> [f64; POWERS] {
        let count = self.count;
        let mut moved = self.powers;
        let mut given = self.powers.into_iter();
        let mut given = || given.next().unwrap_or(0.0);
        let (first, second, third, fourth) = (given(), given(), given(), given());
        let square = shift * shift;
        let sums = [
            first + shift * count,
            second + shift * (2.0 * first + shift * count),
            third + shift * (3.0 * second + shift * (3.0 * first + shift * count)),
            fourth + shift * (4.0 * third) + square * (6.0 * second + shift * (4.0 * first + shift * count)),
        ];
        for (sum, moved) in sums.into_iter().zip(&mut moved) {
            *moved = sum;
        }
        moved
    }

    fn power(&self, place: usize) -> f64 {
        self.powers.get(place).copied().unwrap_or(f64::NAN)
    }
}

/// The mean: the anchor itself where all cells are equal, the rounded quotient of the sum elsewhere.
fn mean<const POWERS: usize>(row: &WindowRow<PowerSums<POWERS>>) -> f64 {
    let (first, count) = (row.sums.power(0), row.sums.count);
    let quotient = (row.anchor * count + first) / count;
    if first.abs() > 0.0 || count < 1.0 {
        quotient
    } else {
        row.anchor
    }
}

fn sum<const POWERS: usize>(row: &WindowRow<PowerSums<POWERS>>) -> f64 {
    let count = row.sums.count;
    if count < 1.0 {
        f64::NAN
    } else {
        row.anchor * count + row.sums.power(0)
    }
}

/// The count times the sum of squares about the mean.
fn scaled_squares<const POWERS: usize>(sums: &PowerSums<POWERS>) -> f64 {
    let first = sums.power(0);
    let squares = sums.count * sums.power(1) - first * first;
    if squares < 0.0 { 0.0 } else { squares }
}

fn variance<const POWERS: usize>(row: &WindowRow<PowerSums<POWERS>>) -> f64 {
    let count = row.sums.count;
    if count < 2.0 {
        f64::NAN
    } else {
        scaled_squares(&row.sums) / (count * (count - 1.0))
    }
}

fn deviation<const POWERS: usize>(row: &WindowRow<PowerSums<POWERS>>) -> f64 {
    variance(row).sqrt()
}

fn skewness(row: &WindowRow<PowerSums<4>>) -> f64 {
    let (sums, count) = (&row.sums, row.sums.count);
    let squares = scaled_squares(sums);
    if count < 3.0 || squares <= 0.0 {
        return f64::NAN;
    }
    let [first, second, third, _] = sums.powers;
    let cubes = count * count * third - 3.0 * count * first * second + 2.0 * first * first * first;
    // both stand in powers of the count that cancel
    (count * (count - 1.0)).sqrt() / (count - 2.0) * (cubes / (squares * squares.sqrt()))
}

fn kurtosis(row: &WindowRow<PowerSums<4>>) -> f64 {
    let (sums, count) = (&row.sums, row.sums.count);
    let squares = scaled_squares(sums);
    if count < 4.0 || squares <= 0.0 {
        return f64::NAN;
    }
    let [first, second, third, fourth] = sums.powers;
    let square = first * first;
    let fourths = count * count * count * fourth - 4.0 * count * count * first * third
        + 6.0 * count * square * second
        - 3.0 * square * square;
    let ratio = fourths / (squares * squares);
    (count - 1.0) / ((count - 2.0) * (count - 3.0)) * ((count + 1.0) * ratio - 3.0 * (count - 1.0))
}

/// What states of moments keep between names.
#[derive(Debug, Default)]
pub(crate) struct MomentScratch {
    sums: Vec<PowerSums<1>>,
    squares: Vec<PowerSums<2>>,
    fourths: Vec<PowerSums<4>>,
}

/// Fills the means, sums, variances and deviations of one window. Sums of one power are added in the same order with
/// or without those of the second, so that what else is asked changes no bit.
pub(crate) fn moments(
    cells: &[f64],
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    scratch: &mut MomentScratch,
) {
    let is_of_one = |statistic: Statistic| matches!(statistic, Statistic::Mean | Statistic::Sum);
    if asked.iter().all(|(statistic, _)| is_of_one(*statistic)) {
        each(cells, window, &mut scratch.sums, asked);
    } else {
        each(cells, window, &mut scratch.squares, asked);
    }
}

fn each<const POWERS: usize>(
    cells: &[f64],
    window: usize,
    tails: &mut Vec<PowerSums<POWERS>>,
    asked: &mut [(Statistic, Vec<f64>)],
) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the last of four statistics")]
    match asked {
        [(Statistic::Mean, answer)] => fill(cells, window, tails, answer, mean),
        [(Statistic::Sum, answer)] => fill(cells, window, tails, answer, sum),
        [(Statistic::Var, answer)] => fill(cells, window, tails, answer, variance),
        [(Statistic::Std, answer)] => fill(cells, window, tails, answer, deviation),
        [(Statistic::Mean, means), (Statistic::Std, deviations)] => {
            means.resize(cells.len(), f64::NAN);
            deviations.resize(cells.len(), f64::NAN);
            let mut slots = means.iter_mut().zip(deviations);
            walk(cells, window, tails, |row| {
                if let Some((middle, spread)) = slots.next() {
                    (*middle, *spread) = (mean(&row), deviation(&row));
                }
            });
        }
        _ => walk(cells, window, tails, |row| {
            for (statistic, answer) in asked.iter_mut() {
                answer.push(match statistic {
                    Statistic::Mean => mean(&row),
                    Statistic::Sum => sum(&row),
                    Statistic::Var => variance(&row),
                    _ => deviation(&row),
                });
            }
        }),
    }
}

/// Fills the skewness and kurtosis of one window.
pub(crate) fn shapes(
    cells: &[f64],
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    scratch: &mut MomentScratch,
) {
    walk(cells, window, &mut scratch.fourths, |row| {
        for (statistic, answer) in asked.iter_mut() {
            let is_skewness = *statistic == Statistic::Skew;
            answer.push(if is_skewness {
                skewness(&row)
            } else {
                kurtosis(&row)
            });
        }
    });
}

/// Fills the mean distance from the mean: over every window afresh, and about the anchor, so that a mean far from 0
/// loses no digits of a distance.
pub(crate) fn mean_deviations(
    cells: &[f64],
    window: usize,
    answer: &mut Vec<f64>,
    scratch: &mut MomentScratch,
) {
    walk(cells, window, &mut scratch.sums, |row| {
        let place = answer.len();
        let start = if window == 0 {
            0
        } else {
            (place + 1).saturating_sub(window)
        };
        let cells = cells.get(start..=place).unwrap_or(&[]);
        let middle = row.sums.power(0) / row.sums.count;
        let distance = |cell: &f64| (cell - row.anchor - middle).abs();
        let distances = cells
            .iter()
            .map(|cell| if cell.is_nan() { 0.0 } else { distance(cell) });
        answer.push(distances.sum::<f64>() / row.sums.count);
    });
}

/// The present cells of each window and their standard deviation.
pub(crate) fn counted_deviations(
    cells: impl Iterator<Item = f64>,
    window: usize,
    scratch: &mut MomentScratch,
) -> Vec<OwnCells> {
    let cells: Vec<f64> = cells.collect();
    let mut answer = Vec::with_capacity(cells.len());
    walk(&cells, window, &mut scratch.squares, |row| {
        answer.push((row.sums.count, deviation(&row)));
    });
    answer
}
