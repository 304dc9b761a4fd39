//! The formula language of Qlib: a text is parsed, checked and planned, and a plan gives columns of values.
//!
//! [`check_formula`] turns a text into a [`CheckedFormula`], or says what is wrong with it, where, and how to fix it; a
//! signal that reads a later day is refused. A [`FormulaPlan`] holds every distinct part of a set of formulas once, and
//! a [`FormulaEngine`] evaluates it name by name. [`prove_no_look_ahead`] shows on cut and perturbed panels that no
//! value depends on a later day.
//!
//! Columns are float32, operators on elements stay in float32, windows answer in float64, and the end is float32 again:
//! Qlib's own types. The bits of a cell depend on the rows of its name up to it and on its formula, and on nothing else.
//!
//! Source of every operator and edge rule: the expressions of Qlib 0.9.7.
//!
//! Knows: nothing of ours. Never knows: panels, files, masks, clocks, threads.

mod alpha158;
mod alpha360;
mod block;
mod casts;
mod cells;
mod checker;
mod element;
mod engine;
mod error;
mod extreme;
mod factors;
mod formula;
mod kind;
mod known_at;
mod line;
mod logarithm;
mod moments;
mod node;
mod number;
mod operator;
mod ordered_places;
mod pair;
mod parser;
mod place_set;
mod plan;
mod proof;
mod reach;
mod rows;
mod scaling;
mod shifted;
mod short_list;
mod sorted;
mod token;
mod weighted;
mod windows;

pub use alpha158::{Alpha158Options, alpha158};
pub use alpha360::alpha360;
pub use checker::{CheckedFormula, FormulaRole, MAX_FORMULA_WINDOW, MAX_LABEL_ROWS, check_formula};
pub use engine::{EvaluationError, FormulaEngine};
pub use error::{FormulaError, FormulaFault};
pub use factors::{NamedFormula, style_factors};
pub use formula::Formula;
pub use kind::CellKind;
pub use known_at::known_at;
pub use number::FormulaNumber;
pub use operator::{FormulaOperator, OperatorShape};
pub use parser::{MAX_FORMULA_BYTES, MAX_FORMULA_DEPTH, MAX_FORMULA_NODES};
pub use plan::{FormulaPlan, FormulaPrecision};
pub use proof::{LookAheadLeak, PanelName, ReplacedColumns, prove_no_look_ahead};
pub use reach::{FormulaReach, RowsBack};
pub use rows::{FieldCells, NamePanel, NameRows, NoOtherNames};
pub use scaling::FormulaScaling;

#[cfg(test)]
mod laws_tests;
