//! The bottom vocabulary: market data, factors, and the A-share exchange.
//!
//! Everything here is pure: bytes and rows are handed in, nothing is read, no clock, no chance but a keyed stream.
//!
//! Knows: nothing of ours. Never knows: models, prompts, aliases, files.

mod as_of;
mod day;
mod decimal;
mod factor_table;
mod history;
mod market;
mod money;
mod panel_check;
mod seed;
mod survivors;
mod ticker;

pub mod exchange;
pub mod factors;
pub mod synth;

pub use as_of::{AsOf, DaysBack, PastDay};
pub use day::{DateError, DateSpan, TradeDate};
pub use decimal::{Decimal, DecimalError};
pub use factor_table::{FactorTable, FactorTableError};
pub use history::History;
pub use market::{
    AbsentMember, Bar, BuildReport, CashDividend, DataError, DatedSector, DatedStatus, DayIndex, IndexLevels,
    IndexSeries, Market, MarketBuilder, NameId, NameInfo, PanelFormatError, PanelOptions, PriceBasis,
    PriceGrid, RawBar, SourceLocation, TradingStatus, VolumeBasis,
};
pub use money::{AmountTooLarge, Fen, Price, Shares};
pub use panel_check::{
    Breach, CheckOptions, DataReport, DividendCheck, DividendMismatch, Examples, FactorJump, Hole,
    IllFormedBar, SessionGap, UnsupportedRule, YearCoverage, check_panel, unsupported_rules,
};
pub use seed::KeyedStream;
pub use survivors::Survivors;
pub use ticker::{Board, Ticker, TickerError, Venue};
