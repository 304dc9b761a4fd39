//! The exchange profile `qlib`: Qlib 0.9.7's Exchange, Account and `TopkDropoutStrategy`, bit for bit where Qlib's own
//! results are, on the same `.bin` data.
//!
//! It exists to be compared: a result of the profile `ktd` can be laid beside what Qlib would have said. It shares
//! nothing with that profile. Numbers are `f64` computed on `f32` data, because Qlib's are.
//!
//! Knows: nothing of ours; a Qlib data directory's text and bytes, a config, orders or scores. Never knows: files, clocks, models,
//! masks, the profile `ktd`.
//!
//! # Rules
//! The rules that are cited by number (R1 to R7, E1 to E17, A1 to A4, S1) stand in docs/spec/qlib.md.
//! - R1, R2 bins, calendars, spans: [`QlibPanel`]. R3 to R7: [`Quote`] and the window of a run.
//! - E1 to E12: [`DealTerms::deal`] and [`Quote`]. E13 to E17: [`simulate()`].
//! - A1 to A3 account and benchmark: [`DayReport`]. A4: [`risk_analysis`].
//! - S1: [`TopkDropout`]. The strategies S2 to S4 are not here.
//!
//! # Habits of Qlib kept on purpose
//! - A threshold on `change` blocks an order at the open by the day's close; a missing `change` never blocks.
//! - A missing deal price is replaced by the same day's close.
//! - 0.1 share of slack in lot rounding: cash may fall below zero, and 99.9 shares make a lot.
//! - A sell within 1e-5 of the position deals what was asked: a little more than is held, or a remainder vanishes.
//! - No shares are locked: what is bought today can be sold today.
//! - One missing factor anywhere turns lots off everywhere.
//! - Dividends are reinvested at no cost by the adjusted price; a delisted holding keeps its last mark for ever.
//! - Cost is not rounded to cents; the least cost is per order.
//! - `TopkDropout` buys nearly everything when it holds too much, sells everything when `n_drop` is zero, and
//!   counts planned sells as made.
//!
//! # Where Qlib leaves the result open
//! Sets and unstable sorts are replaced by order of symbol: sells of `TopkDropout`, equal scores, and the sum of
//! the holdings, which moves the account by an ulp or so.

mod account;
mod bins;
mod config;
mod error;
mod exchange;
mod executor;
mod instructions;
mod market;
mod python;
mod report;
mod risk;
mod simulate;
mod topk_dropout;
mod window;

pub use account::{QlibAccount, QlibHolding, SellFault};
pub use bins::{BinFault, FeatureFile, FieldSeries, QlibDataError, QlibPanel, Span};
pub use config::{
    ConfigError, DEFAULT_LIMIT_THRESHOLD, DealPrice, Limit, QlibConfig, Settle, Strategy, TopkDropout,
    TradeType, VolumeKind, VolumeThreshold,
};
pub use error::SimulationError;
pub use exchange::{Deal, DealTerms, Numbers, OrderRequest, QlibSide, Quote, ZeroDivision};
pub use instructions::{DuplicateScore, Instructions, OrderSize, ScriptedOrder, Signal};
pub use report::{DayReport, FinalPosition, QlibFill, QlibMetrics, QlibRun};
pub use risk::{DAYS_PER_YEAR, RiskMode, RiskReport, risk_analysis};
pub use simulate::simulate;
pub use topk_dropout::Replacement;
pub use window::WindowError;
