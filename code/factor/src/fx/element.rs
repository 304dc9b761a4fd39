//! What is computed row by row.

use super::operator::{Binary, Unary};
use super::script::Arithmetic;
use crate::casts::{equal, finite, flag};

/// The values of a step: one number for all rows, or one a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cells {
    Number(f64),
    Series(Vec<f64>),
}

impl Cells {
    /// The value of a row; missing outside.
    fn at(&self, row: usize) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Series(cells) => cells.get(row).copied().unwrap_or(f64::NAN),
        }
    }

    /// One value a row.
    pub(super) fn series(&self, rows: usize) -> Vec<f64> {
        match self {
            Self::Number(value) => vec![*value; rows],
            Self::Series(cells) => cells.clone(),
        }
    }
}

/// A function of one value a row.
pub(super) fn each(cells: &Cells, of: impl Fn(f64) -> f64) -> Cells {
    match cells {
        Cells::Number(value) => Cells::Number(finite(of(*value))),
        Cells::Series(series) => Cells::Series(series.iter().map(|cell| finite(of(*cell))).collect()),
    }
}

/// A function of two values a row.
pub(super) fn each_pair(left: &Cells, right: &Cells, of: impl Fn(f64, f64) -> f64) -> Cells {
    let of = |one: f64, other: f64| finite(of(one, other));
    match (left, right) {
        (Cells::Number(one), Cells::Number(other)) => Cells::Number(of(*one, *other)),
        (Cells::Number(one), Cells::Series(others)) => {
            Cells::Series(others.iter().map(|other| of(*one, *other)).collect())
        }
        (Cells::Series(ones), Cells::Number(other)) => {
            Cells::Series(ones.iter().map(|one| of(*one, *other)).collect())
        }
        (Cells::Series(ones), Cells::Series(others)) => Cells::Series(
            ones.iter()
                .zip(others)
                .map(|(one, other)| of(*one, *other))
                .collect(),
        ),
    }
}

/// A sign between two values.
pub(super) fn between(sign: Arithmetic, left: &Cells, right: &Cells) -> Cells {
    match sign {
        Arithmetic::Add => each_pair(left, right, |one, other| one + other),
        Arithmetic::Subtract => each_pair(left, right, |one, other| one - other),
        Arithmetic::Multiply => each_pair(left, right, |one, other| one * other),
        Arithmetic::Divide => each_pair(left, right, |one, other| one / other),
        Arithmetic::Power => {
            if let Cells::Number(exponent) = right
                && equal(*exponent, 2.0)
            {
                return each(left, |base| base * base);
            }
            each_pair(left, right, power)
        }
    }
}

/// A power; a negative base needs a whole exponent.
fn power(base: f64, exponent: f64) -> f64 {
    if base.is_nan() || exponent.is_nan() || (base < 0.0 && exponent.fract().abs() > 0.0) {
        return f64::NAN;
    }
    libm::pow(base, exponent)
}

/// A value where both are there.
fn compared(left: &Cells, right: &Cells, of: impl Fn(f64, f64) -> f64) -> Cells {
    each_pair(left, right, |one, other| {
        if one.is_nan() || other.is_nan() {
            f64::NAN
        } else {
            of(one, other)
        }
    })
}

/// A function of one value a row, by its name.
pub(super) fn unary(kind: Unary, cells: &Cells) -> Cells {
    match kind {
        Unary::Abs => each(cells, f64::abs),
        Unary::Log => each(cells, |cell| if 0.0 < cell { libm::log(cell) } else { f64::NAN }),
        Unary::Exp => each(cells, libm::exp),
        Unary::Sqrt => each(cells, f64::sqrt),
        Unary::Sign => each(cells, |cell| {
            if cell.is_nan() {
                cell
            } else {
                flag(0.0 < cell) - flag(cell < 0.0)
            }
        }),
        Unary::ZeroIfMissing => each(cells, |cell| if cell.is_nan() { 0.0 } else { cell }),
        Unary::TimesLog => each(cells, |cell| {
            if equal(cell, 0.0) {
                0.0
            } else if 0.0 < cell {
                cell * libm::log(cell)
            } else {
                f64::NAN
            }
        }),
    }
}

/// A function of two values a row, missing where one is.
pub(super) fn binary(kind: Binary, left: &Cells, right: &Cells) -> Cells {
    match kind {
        Binary::Larger => compared(left, right, f64::max),
        Binary::Smaller => compared(left, right, f64::min),
        Binary::Above => compared(left, right, |one, other| flag(other < one)),
        Binary::AtLeast => compared(left, right, |one, other| flag(other <= one)),
        Binary::Below => compared(left, right, |one, other| flag(one < other)),
        Binary::AtMost => compared(left, right, |one, other| flag(one <= other)),
        Binary::Equal => compared(left, right, |one, other| flag(equal(one, other))),
    }
}

/// Missing where the condition is, else the chosen branch alone counts.
pub(super) fn when(condition: &Cells, chosen: &Cells, other: &Cells) -> Cells {
    let pick = |row: usize, cell: f64| {
        if cell.is_nan() {
            f64::NAN
        } else if equal(cell, 0.0) {
            other.at(row)
        } else {
            chosen.at(row)
        }
    };
    match condition {
        Cells::Series(cells) => Cells::Series(
            cells
                .iter()
                .enumerate()
                .map(|(row, cell)| pick(row, *cell))
                .collect(),
        ),
        Cells::Number(value) if value.is_nan() => Cells::Number(f64::NAN),
        Cells::Number(value) if equal(*value, 0.0) => other.clone(),
        Cells::Number(_) => chosen.clone(),
    }
}

/// Whether all of the conditions hold; missing where one is.
pub(super) fn all_hold<'a>(conditions: impl Iterator<Item = &'a Cells>) -> Cells {
    joined(conditions, f64::min)
}

/// Whether any of the conditions holds; missing where one is.
pub(super) fn any_holds<'a>(conditions: impl Iterator<Item = &'a Cells>) -> Cells {
    joined(conditions, f64::max)
}

fn joined<'a>(conditions: impl Iterator<Item = &'a Cells>, join: fn(f64, f64) -> f64) -> Cells {
    let truth = |cell: f64| {
        if cell.is_nan() {
            cell
        } else {
            flag(!equal(cell, 0.0))
        }
    };
    conditions
        .map(|condition| each(condition, truth))
        .reduce(|known, next| compared(&known, &next, join))
        .unwrap_or(Cells::Number(f64::NAN))
}
