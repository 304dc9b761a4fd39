//! Formulas over a market: files and sets of them, the columns that they read, their values and scores, and pools that are traded.
//!
//! Knows: panels, formulas, z-scores. Never knows: a mask, a model, a record, how a formula is evaluated.

mod error;
mod exchange_holding;
mod field_panel;
mod formula_file;
mod formula_market;
mod formula_set;
mod formula_values;
mod market_fields;
mod noise_draw;
mod proof_panel;
mod qlib_fields;
mod score_task;
mod searched_pool;
mod traded_pool;

pub use error::FormulasError;
pub use exchange_holding::{CloseScores, ExchangeHolding, ExchangePath};
pub use field_panel::{FieldColumn, FieldName, FieldPanel, PlannedPanel};
pub use formula_file::{
    FormulaLine, MAX_FORMULAS, check_count, check_lines, csv_lines, parse_formulas, read_formulas, text_of,
};
pub use formula_market::{FormulaMarket, FormulaUniverse, SYNTHETIC_STUDY};
pub use formula_set::{BuiltInSet, CheckedLine, RefusedFormula, RefusedLine, SetOfFormulas};
pub use formula_values::{FormulaValues, NameValues, ValueSpan, evaluate, evaluate_each};
pub use ktd_expressions::{FormulaPrecision, FormulaRole};
pub use market_fields::{MARKET_FIELDS, TradedBar, market_fields, market_fields_until};
pub use noise_draw::NoiseDraw;
pub use proof_panel::{PROOF_NAMES, prove};
pub use qlib_fields::qlib_fields;
pub use score_task::{ScoreColumns, ScoreTask};
pub use searched_pool::{POOL_FILE, PoolFormula, PoolModel, SearchedPool};
pub use traded_pool::TradedPool;
