//! The bottom vocabulary: market data, factors, and the A-share exchange.
//!
//! Everything here is pure: bytes and rows are handed in, nothing is read, no clock, no chance but a keyed stream.
//!
//! Knows: nothing of ours. Never knows: models, prompts, aliases, files.

mod day;
mod decimal;
mod factor_table;
mod market;
mod money;
mod seed;
mod ticker;

pub mod exchange;
pub mod factors;
pub mod qlib;
pub mod synth;

pub use day::{DateError, DateSpan, TradeDate};
pub use decimal::{Decimal, DecimalError};
pub use factor_table::{FactorTable, FactorTableError};
pub use market::{
    AsOf, Bar, Basis, BuildReport, DataError, DayIndex, DaysBack, IndexLevels, IndexSeries, Market,
    MarketBuilder, NameId, NameInfo, PanelFormatError, PanelOptions, PastDay, Place, RawBar, VolumeBasis,
};
pub use money::{Fen, Price, Shares};
pub use seed::KeyedStream;
pub use ticker::{Board, Ticker, TickerError};
