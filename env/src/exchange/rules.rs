//! The exchange's numbers. Every one is a configuration key; the default is that of docs/spec/exchange.md.

use crate::day::TradeDate;
use crate::money::Fen;
use crate::ticker::Board;

/// A value for each board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByBoard<T> {
    /// Main boards.
    pub main: T,
    /// ChiNext.
    pub chinext: T,
    /// STAR market.
    pub star: T,
    /// Beijing Stock Exchange.
    pub bse: T,
}

impl<T: Copy> ByBoard<T> {
    /// The board's value.
    #[must_use]
    pub const fn get(&self, board: Board) -> T {
        match board {
            Board::Main => self.main,
            Board::ChiNext => self.chinext,
            Board::Star => self.star,
            Board::Bse => self.bse,
        }
    }
}

/// Which open counts as being at the price limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitRule {
    /// A buffer below the limit in basis points of the reference price (the benchmark's rule; default).
    Buffered,
    /// The exchange's own limit price in whole fen.
    Exact,
    /// At or beyond either of the two.
    Strict,
}

/// What a delisted holding turns into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delisting {
    /// Cash at the last mark (optimistic; default).
    LastClose,
    /// Nothing.
    Zero,
}

/// All rules of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Cash before the first day.
    pub initial_cash: Fen,
    /// Which open is at the limit.
    pub limit: LimitRule,
    /// Distance of the buffered limit from the reference price, basis points.
    pub buffer_bp: ByBoard<u32>,
    /// The exchange's limit, basis points of the reference price.
    pub exact_bp: ByBoard<u32>,
    /// The exchange's limit for ST names of the main boards, basis points.
    pub exact_bp_st_main: u32,
    /// ChiNext's limit before its reform, basis points.
    pub exact_bp_chinext_old: u32,
    /// First day of ChiNext's reform.
    pub chinext_new_from: TradeDate,
    /// How many trading days from listing have no limit.
    pub no_limit_days: ByBoard<u32>,
    /// The first listing date to which that applies; `None` for all dates.
    pub no_limit_from: ByBoard<Option<TradeDate>>,
    /// Largest weight of one name after a buy, in billionths of NAV.
    pub max_single_weight_billionths: u64,
    /// Most names held.
    pub max_positions: u32,
    /// Fee on buys, basis points of value.
    pub buy_bps: u32,
    /// Fee on sells, basis points of value.
    pub sell_bps: u32,
    /// Least fee of one order.
    pub min_fee: Fen,
    /// What a delisted holding turns into.
    pub delisting: Delisting,
    /// On which missed trading day a name whose rows have ended is delisted.
    pub delist_after_days: u32,
    /// Least length of an order's reason, in Unicode characters after trimming.
    pub min_reason_chars: u32,
}

impl Default for Rules {
    fn default() -> Self {
        // Both dates exist, so the fallback is never taken.
        let date = |text| TradeDate::parse(text).ok();
        let epoch = TradeDate::from_days_since_epoch(0);
        let chinext_reform = date("2020-08-24");
        Self {
            initial_cash: Fen(100_000_000),
            limit: LimitRule::Buffered,
            buffer_bp: ByBoard {
                main: 950,
                chinext: 1950,
                star: 1950,
                bse: 2950,
            },
            exact_bp: ByBoard {
                main: 1000,
                chinext: 2000,
                star: 2000,
                bse: 3000,
            },
            exact_bp_st_main: 500,
            exact_bp_chinext_old: 1000,
            chinext_new_from: chinext_reform.or(epoch).unwrap_or_else(TradeDate::earliest),
            no_limit_days: ByBoard {
                main: 5,
                chinext: 5,
                star: 5,
                bse: 1,
            },
            no_limit_from: ByBoard {
                main: date("2023-04-10"),
                chinext: chinext_reform,
                star: None,
                bse: None,
            },
            max_single_weight_billionths: 200_000_000,
            max_positions: 20,
            buy_bps: 5,
            sell_bps: 15,
            min_fee: Fen(500),
            delisting: Delisting::LastClose,
            delist_after_days: 20,
            min_reason_chars: 10,
        }
    }
}
