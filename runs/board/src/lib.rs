//! The leaderboard: from bundles to ranks that say which differences are real.
//!
//! One [`Leaderboard`] is computed and written as JSON; tables, CSV and the page are views of it and compute nothing.
//!
//! Knows: finished bundles, the factor model, statistics. Never knows: a client, a running episode.

mod agent_score;
mod benchmark;
mod build;
mod by_agent;
mod by_basis;
mod cohort;
mod comparability;
mod conceal;
mod contrast;
mod day_books;
mod day_prices;
mod days;
mod early_end;
mod episode_account;
mod error;
mod exposure_rows;
mod family;
mod files;
mod fitted;
mod forecast;
mod health;
mod identity;
mod kept_scores;
mod load;
mod memory;
mod metric;
mod notes;
mod options;
mod order_tally;
mod own_file;
pub mod page;
pub mod planting;
mod pooled;
mod protocol;
mod reading;
mod record;
mod reference;
mod regime;
mod replayed_account;
mod report;
mod row;
mod score;
mod scoring;
mod sensitivity;
mod separation;
mod series;
mod setting;
mod settings;
pub mod sheet;
mod signed_board;
mod size_cost;
pub mod size_table;
mod track_key;
mod trials;
mod unfinished;

pub use benchmark::{BenchmarkSeries, Benchmarks, MEMBERS_TOTAL_RETURN};
pub use build::{BOARD_FORMAT, build};
pub use by_basis::ByBasis;
pub use episode_account::{DividendTax, EpisodeAccount};
pub use error::BoardError;
pub use exposure_rows::{read_board, write_exposures};
pub use files::{BoardManifest, write_board};
pub use fitted::FittedModel;
pub use forecast::OrderForecast;
pub use kept_scores::KeptScores;
pub use ktd_attribution::account::{Linking, WeightBasis};
pub use metric::BoardMetric;
pub use options::{BoardOptions, ProgressCallback};
pub use order_tally::OrderTally;
pub use own_file::{OwnAccount, OwnDays, play_file};
pub use record::{
    Bounds, CalibrationBin, CalibrationRecord, Cohort, Comparability, Contrast, ContrastMetric,
    ContrastSides, Contribution, Curves, CutoffGap, CutoffSide, DateBounds, FactorVif, Faults, Gap, GapKind,
    GapTest, Leaderboard, LeaderboardRow, LimitOpenCounts, Linked, MarketRegime, ModelHealth, ModelRecord,
    MurphyParts, OrderCounts, Pair, PooledRanking, PooledRow, PooledSeparation, PooledSpan, Protocol,
    RankBounds, RejectedOrders, Resampling, SeedStat, Selection, SensitivityRow, Separation, SideTest,
    SizeCost, SpaP, StyleHealth, Track, TurnedPair, VifRound, WindowGap, WindowMark, WindowRegime,
};
pub use reference::MEMBERS;
pub use replayed_account::{AccountFault, AccountOrders, AccountTrade, FeeRates, ReplayedAccount};
pub use report::{AttributionReport, AttributionSubject, DailyRow, Excess, report};
pub use score::ScoredEpisode;
pub use settings::ModelSettings;
pub use signed_board::{CheckedBoard, check_board, is_board, is_signed_board};
