//! Formulas over a market: the columns that they read, their values, and pools of them that are traded.
//!
//! Knows: panels, formulas, z-scores. Never knows: a mask, a model, a record, how a formula is evaluated.

mod error;
mod exchange_holding;
mod field_panel;
mod formula_values;
mod market_fields;
mod traded_pool;

pub use error::FormulasError;
pub use exchange_holding::{CloseScores, ExchangeHolding, ExchangePath};
pub use field_panel::{FieldColumn, FieldName, FieldPanel, PlannedPanel};
pub use formula_values::{FormulaValues, NameValues, ValueSpan, evaluate, evaluate_each};
pub use market_fields::{MARKET_FIELDS, TradedBar, market_fields, market_fields_until};
pub use traded_pool::TradedPool;
