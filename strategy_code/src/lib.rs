//! Trading strategies that models write from a document: reference strategies to measure them against, gates on their logs,
//! drift between versions, scores.
//!
//! A strategy sees bars and gives two logs, of trades and of bars. Money is in units of account as f64, by contract of the
//! benchmark: fractions of shares are allowed, and nothing of it touches an exchange.
//!
//! Knows: nothing of ours. Never knows: processes, files, models, prompts, the exchange of episodes.

mod bars;
mod book;
mod indicators;
mod logs;
mod parameters;
mod reference;

pub use bars::{AssetBars, BarTime, MarketBars};
pub use book::INITIAL_CAPITAL;
pub use logs::{AuditRow, PositionState, Signal, StrategyLogs, TradeRow, TradeSide};
pub use parameters::{ParameterValue, Parameters};
pub use reference::{DocumentId, ReferenceError, run_reference};
