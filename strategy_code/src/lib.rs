//! Trading strategies that models write from a document: reference strategies to measure them against, gates on their logs,
//! drift between versions, scores.
//!
//! A strategy sees bars and gives two logs, of trades and of bars. Money is in units of account as f64, by contract of the
//! benchmark: fractions of shares are allowed, and nothing of it touches an exchange.
//!
//! Knows: nothing of ours. Never knows: processes, files, models, prompts, the exchange of episodes.

mod arena;
mod bars;
mod book;
mod canonical;
mod card;
mod document;
mod edit_distance;
mod hash;
mod indicators;
mod logs;
mod parameters;
mod patch;
mod python_number;
mod reference;
mod strict_json;
mod trace;
mod trade_hash;

pub use arena::{Arena, ArenaRow, Review};
pub use bars::{AssetBars, BarTime, MarketBars};
pub use book::INITIAL_CAPITAL;
pub use card::{CARD_BYTES_MAX, CardCheck, StrategyCard};
pub use document::{DocumentParameter, ParameterFreedom, ParameterType, StrategyDocument};
pub use logs::{AuditRow, PositionState, Signal, StrategyLogs, TradeRow, TradeSide};
pub use parameters::{ParameterValue, Parameters};
pub use patch::{PATCH_LINES_MAX, PatchSize};
pub use reference::{DocumentId, ReferenceError, run_reference};
pub use strict_json::StrictJson;
pub use trace::{tokens_hash, trace_distance, trace_tokens};
pub use trade_hash::{is_close, trade_hash};
