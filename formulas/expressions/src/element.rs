//! Operators element by element, in the type that the plan chose.

use crate::casts::{float_of, single_of};
use crate::cells::{Buffers, Cells};
use crate::kind::CellKind;
use crate::logarithm::logs_of_singles;
use crate::operator::FormulaOperator;
use pulp::{Arch, NullaryFnOnce};

/// One side of a step: a column, or a number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column<'a, T> {
    Many(&'a [T]),
    One(T),
}

/// Applies a function row by row, in the widest vectors there are.
fn zip<T: Copy, R>(
    left: Column<'_, T>,
    right: Column<'_, T>,
    out: &mut Vec<R>,
    function: impl Fn(T, T) -> R,
) {
    Arch::new().dispatch(Zip {
        left,
        right,
        out,
        function,
    });
}

struct Zip<'a, T, R, F> {
    left: Column<'a, T>,
    right: Column<'a, T>,
    out: &'a mut Vec<R>,
    function: F,
}

impl<T: Copy, R, F: Fn(T, T) -> R> NullaryFnOnce for Zip<'_, T, R, F> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let Self {
            left,
            right,
            out,
            function,
        } = self;
        match (left, right) {
            (Column::Many(left), Column::Many(right)) => {
                out.extend(
                    left.iter()
                        .zip(right)
                        .map(|(left, right)| function(*left, *right)),
                );
            }
            (Column::Many(left), Column::One(right)) => {
                out.extend(left.iter().map(|left| function(*left, right)));
            }
            (Column::One(left), Column::Many(right)) => {
                out.extend(right.iter().map(|right| function(left, *right)));
            }
            (Column::One(left), Column::One(right)) => out.push(function(left, right)),
        }
    }
}

/// A float of the language.
pub(crate) trait Float:
    Copy
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
    const MISSING: Self;
    fn is_missing(self) -> bool;
    fn power(self, exponent: Self) -> Self;
    /// The logarithms of a column.
    fn logarithms(cells: &[Self], out: &mut Vec<Self>);
    fn sign(self) -> Self;
    fn magnitude(self) -> Self;
}

impl Float for f64 {
    const MISSING: Self = Self::NAN;
    fn is_missing(self) -> bool {
        self.is_nan()
    }
    fn power(self, exponent: Self) -> Self {
        libm::pow(self, exponent)
    }
    fn logarithms(cells: &[Self], out: &mut Vec<Self>) {
        out.extend(cells.iter().map(|cell| libm::log(*cell)));
    }
    fn sign(self) -> Self {
        if self > 0.0 {
            1.0
        } else if self < 0.0 {
            -1.0
        } else {
            self
        }
    }
    fn magnitude(self) -> Self {
        self.abs()
    }
}

/// The logarithm is numpy's own; the power is taken in float64 and rounded, numpy's being up to four spacings off.
impl Float for f32 {
    const MISSING: Self = Self::NAN;
    fn is_missing(self) -> bool {
        self.is_nan()
    }
    fn power(self, exponent: Self) -> Self {
        single_of(libm::pow(f64::from(self), f64::from(exponent)))
    }
    fn logarithms(cells: &[Self], out: &mut Vec<Self>) {
        logs_of_singles(cells, out);
    }
    fn sign(self) -> Self {
        single_of(f64::from(self).sign())
    }
    fn magnitude(self) -> Self {
        self.abs()
    }
}

fn larger<T: Float>(left: T, right: T) -> T {
    if left.is_missing() | right.is_missing() {
        T::MISSING
    } else if left > right {
        left
    } else {
        right
    }
}

fn smaller<T: Float>(left: T, right: T) -> T {
    if left.is_missing() | right.is_missing() {
        T::MISSING
    } else if left < right {
        left
    } else {
        right
    }
}

/// Arithmetic on floats.
pub(crate) fn floats<T: Float>(
    operator: FormulaOperator,
    left: Column<'_, T>,
    right: Column<'_, T>,
    out: &mut Vec<T>,
) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the last operator on two floats")]
    match operator {
        FormulaOperator::Add => zip(left, right, out, |left, right| left + right),
        FormulaOperator::Sub => zip(left, right, out, |left, right| left - right),
        FormulaOperator::Mul => zip(left, right, out, |left, right| left * right),
        FormulaOperator::Div => zip(left, right, out, |left, right| left / right),
        FormulaOperator::Power => zip(left, right, out, T::power),
        FormulaOperator::Greater => zip(left, right, out, larger),
        _ => zip(left, right, out, smaller),
    }
}

/// Arithmetic on integers, which wrap as numpy's do.
pub(crate) fn integers(
    operator: FormulaOperator,
    left: Column<'_, i64>,
    right: Column<'_, i64>,
    out: &mut Vec<i64>,
) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the last operator on two integers")]
    match operator {
        FormulaOperator::Add => zip(left, right, out, i64::wrapping_add),
        FormulaOperator::Sub => zip(left, right, out, i64::wrapping_sub),
        FormulaOperator::Mul => zip(left, right, out, i64::wrapping_mul),
        FormulaOperator::Power => zip(left, right, out, wrapping_power),
        FormulaOperator::Greater => zip(left, right, out, i64::max),
        _ => zip(left, right, out, i64::min),
    }
}

/// A power by squaring, wrapping as numpy's does; the exponent is not negative.
fn wrapping_power(base: i64, exponent: i64) -> i64 {
    let (mut square, mut left, mut power) = (base, exponent, 1_i64);
    while 0 < left {
        if left & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    power
}

/// Arithmetic on conditions: sums and the larger are *or*, products and the smaller are *and*.
pub(crate) fn booleans(
    operator: FormulaOperator,
    left: Column<'_, bool>,
    right: Column<'_, bool>,
    out: &mut Vec<bool>,
) {
    if matches!(
        operator,
        FormulaOperator::Add | FormulaOperator::Greater | FormulaOperator::Or
    ) {
        zip(left, right, out, |left, right| left | right);
    } else {
        zip(left, right, out, |left, right| left & right);
    }
}

/// Comparisons; one with a missing cell is false, and unequal is true.
pub(crate) fn comparisons<T: Copy + PartialOrd>(
    operator: FormulaOperator,
    left: Column<'_, T>,
    right: Column<'_, T>,
    out: &mut Vec<bool>,
) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the last of the six comparisons")]
    match operator {
        FormulaOperator::Gt => zip(left, right, out, |left, right| left > right),
        FormulaOperator::Ge => zip(left, right, out, |left, right| left >= right),
        FormulaOperator::Lt => zip(left, right, out, |left, right| left < right),
        FormulaOperator::Le => zip(left, right, out, |left, right| left <= right),
        FormulaOperator::Eq => zip(left, right, out, |left, right| left == right),
        _ => zip(left, right, out, |left, right| left != right),
    }
}

/// One of two sides, row by row.
pub(crate) fn choices<T: Copy>(
    condition: &[bool],
    left: Column<'_, T>,
    right: Column<'_, T>,
    out: &mut Vec<T>,
) {
    let rows = condition.iter();
    let pick = |is_left: bool, left: T, right: T| if is_left { left } else { right };
    match (left, right) {
        (Column::Many(left), Column::Many(right)) => {
            out.extend(
                rows.zip(left.iter().zip(right))
                    .map(|(is_left, (left, right))| pick(*is_left, *left, *right)),
            );
        }
        (Column::Many(left), Column::One(right)) => {
            out.extend(rows.zip(left).map(|(is_left, left)| pick(*is_left, *left, right)));
        }
        (Column::One(left), Column::Many(right)) => {
            out.extend(
                rows.zip(right)
                    .map(|(is_left, right)| pick(*is_left, left, *right)),
            );
        }
        (Column::One(left), Column::One(right)) => {
            out.extend(rows.map(|is_left| pick(*is_left, left, right)));
        }
    }
}

/// An operator on one series, whose cells have the type of the answer.
pub(crate) fn one_series(operator: FormulaOperator, cells: &Cells, buffers: &mut Buffers) -> Cells {
    match cells {
        Cells::Booleans(cells) => {
            let is_not = operator == FormulaOperator::Not;
            let mut out = buffers.booleans();
            out.extend(cells.iter().map(|cell| *cell ^ is_not));
            Cells::Booleans(out)
        }
        Cells::Integers(cells) => {
            let mut out = buffers.integers();
            out.extend(cells.iter().map(|cell| cell.wrapping_abs()));
            Cells::Integers(out)
        }
        Cells::Singles(cells) => {
            let mut out = buffers.singles();
            one_float(operator, cells, &mut out);
            Cells::Singles(out)
        }
        Cells::Doubles(cells) => {
            let mut out = buffers.doubles();
            one_float(operator, cells, &mut out);
            Cells::Doubles(out)
        }
        Cells::Empty | Cells::Pairs(_) | Cells::Sorted(_) => Cells::Empty,
    }
}

fn one_float<T: Float>(operator: FormulaOperator, cells: &[T], out: &mut Vec<T>) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the last operator on one float")]
    match operator {
        FormulaOperator::Sign => out.extend(cells.iter().map(|cell| cell.sign())),
        FormulaOperator::Log => T::logarithms(cells, out),
        _ => out.extend(cells.iter().map(|cell| cell.magnitude())),
    }
}

/// The same cells in another type.
pub(crate) fn converted(cells: &Cells, kind: CellKind, buffers: &mut Buffers) -> Cells {
    match kind {
        CellKind::Boolean => Cells::Booleans(truths(cells, buffers)),
        CellKind::Integer => {
            let mut out = buffers.integers();
            out.extend(cells.booleans().iter().map(|cell| i64::from(*cell)));
            Cells::Integers(out)
        }
        CellKind::Single => {
            let mut out = buffers.singles();
            singles_of(cells, &mut out);
            Cells::Singles(out)
        }
        CellKind::Double => {
            let mut out = buffers.doubles();
            doubles_of(cells, &mut out, |cell| cell);
            Cells::Doubles(out)
        }
    }
}

/// Cells as float32, as they leave the engine.
pub(crate) fn singles_of(cells: &Cells, out: &mut Vec<f32>) {
    match cells {
        Cells::Booleans(cells) => out.extend(cells.iter().map(|cell| f32::from(u8::from(*cell)))),
        Cells::Integers(cells) => out.extend(cells.iter().map(|cell| single_of(float_of(*cell)))),
        Cells::Singles(cells) => out.extend_from_slice(cells),
        Cells::Doubles(cells) => out.extend(cells.iter().map(|cell| single_of(*cell))),
        Cells::Empty | Cells::Pairs(_) | Cells::Sorted(_) => {}
    }
}

fn doubles_of(cells: &Cells, out: &mut Vec<f64>, function: impl Fn(f64) -> f64) {
    match cells {
        Cells::Booleans(cells) => out.extend(cells.iter().map(|cell| f64::from(u8::from(*cell)))),
        Cells::Integers(cells) => out.extend(cells.iter().map(|cell| float_of(*cell))),
        Cells::Singles(cells) => out.extend(cells.iter().map(|cell| function(f64::from(*cell)))),
        Cells::Doubles(cells) => out.extend(cells.iter().map(|cell| function(*cell))),
        Cells::Empty | Cells::Pairs(_) | Cells::Sorted(_) => {}
    }
}

/// The cells as float64, infinities missing.
pub(crate) fn prepared(cells: &Cells, buffers: &mut Buffers) -> Vec<f64> {
    let mut out = buffers.doubles();
    doubles_of(
        cells,
        &mut out,
        |cell| if cell.is_finite() { cell } else { f64::NAN },
    );
    out
}

/// Whether a cell is not 0: a missing one is not.
pub(crate) fn truths(cells: &Cells, buffers: &mut Buffers) -> Vec<bool> {
    let mut out = buffers.booleans();
    match cells {
        Cells::Booleans(cells) => out.extend_from_slice(cells),
        Cells::Integers(cells) => out.extend(cells.iter().map(|cell| *cell != 0)),
        Cells::Singles(cells) => out.extend(cells.iter().map(|cell| cell.is_nan() | (cell.abs() > 0.0))),
        Cells::Doubles(cells) => out.extend(cells.iter().map(|cell| cell.is_nan() | (cell.abs() > 0.0))),
        Cells::Empty | Cells::Pairs(_) | Cells::Sorted(_) => {}
    }
    out
}

/// The cells of so many rows before, or after; rows beyond the ends are missing.
pub(crate) fn shifted<T: Copy>(cells: &[T], rows: i64, missing: T, out: &mut Vec<T>) {
    let distance = usize::try_from(rows.unsigned_abs())
        .unwrap_or(usize::MAX)
        .min(cells.len());
    if 0 < rows {
        out.resize(distance, missing);
        out.extend_from_slice(cells.get(..cells.len() - distance).unwrap_or(&[]));
    } else {
        out.extend_from_slice(cells.get(distance..).unwrap_or(&[]));
        out.resize(cells.len(), missing);
    }
}
