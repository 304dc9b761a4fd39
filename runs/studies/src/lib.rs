//! Studies beside episodes: files of formulas, the columns they read, their values, and reports.
//!
//! Knows: files, panels, formulas. Never knows: a mask, a record of an episode, how a formula is evaluated.

mod error;
mod field_panel;
mod formula_file;
mod formula_set;
mod formula_values;
mod market_fields;
mod proof_panel;
mod qlib_fields;
mod values_file;

pub mod leak;

pub use error::StudyError;
pub use field_panel::{FieldColumn, FieldName, FieldPanel};
pub use formula_file::{FormulaLine, MAX_FORMULAS, read_formulas};
pub use formula_set::{BuiltInSet, RefusedFormula, SetOfFormulas};
pub use formula_values::{FormulaValues, NameValues, ValueSpan, evaluate, evaluate_each};
pub use ktd_expressions::{FormulaPrecision, FormulaRole};
pub use market_fields::market_fields;
pub use proof_panel::prove;
pub use qlib_fields::qlib_fields;
pub use values_file::{ValuesFile, ValuesFormat};
