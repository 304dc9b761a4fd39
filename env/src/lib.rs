//! The bottom vocabulary: market data, factors, and the A-share exchange.
//!
//! Everything here is pure: bytes and rows are handed in, nothing is read, no clock, no chance but a keyed stream.
//!
//! Knows: nothing of ours. Never knows: models, prompts, aliases, files.

mod day;
mod decimal;
mod factor_table;
mod history;
mod market;
mod money;
mod seed;
mod ticker;

pub mod exchange;
pub mod factors;
pub mod synth;

pub use day::{DateError, DateSpan, TradeDate};
pub use decimal::{Decimal, DecimalError};
pub use factor_table::{FactorTable, FactorTableError};
pub use history::History;
pub use market::{
    AbsentMember, AsOf, Bar, Basis, Breach, BuildReport, CheckOptions, DataError, DataReport, DayIndex,
    DaysBack, Examples, FactorJump, Hole, IllFormedBar, IndexLevels, IndexSeries, Market, MarketBuilder,
    NameId, NameInfo, PanelFormatError, PanelOptions, PastDay, Place, PriceGrid, RawBar, SessionGap,
    UnsupportedRule, VolumeBasis, YearCoverage, check_panel,
};
pub use money::{Fen, Price, Shares};
pub use seed::KeyedStream;
pub use ticker::{Board, Ticker, TickerError};
