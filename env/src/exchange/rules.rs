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
    /// The exchange's own limit price in whole fen, by board, ST status and date (default).
    Exact,
    /// The paper's: a buffer below the limit in basis points of the reference price, by board alone.
    Buffered,
    /// At or beyond either of the two.
    Strict,
}

/// How the exchange's limits become whole fen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitRounding {
    /// The upper one is cut down and the lower one up, so that neither lies beyond the span: Beijing's.
    FloorCeil,
    /// Half-up: Shanghai's and Shenzhen's.
    HalfUp,
}

/// What an order costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeeRule {
    /// The paper's flat rates on buys and on sells, with one least fee (default).
    Paper,
    /// Commission with its least fee, and stamp duty and transfer fee of the trading day on top.
    Dated,
}

/// What becomes of a share count that was decided before an ex-day, at the open of that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExDayOrders {
    /// It is carried through the corporate action, as holdings are, and cut down to the grid (default).
    Scaled,
    /// It stands as it was decided.
    AsDecided,
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
    /// How the limits of Beijing become whole fen; half-up was taken for its rule before.
    pub bse_limits: LimitRounding,
    /// The exchange's limit for ST names of the main boards before their reform, basis points.
    pub exact_bp_st_main: u32,
    /// First day on which ST names of the main boards have the limit of their board.
    pub st_main_new_from: TradeDate,
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
    /// What an order costs.
    pub fees: FeeRule,
    /// Fee on buys under the paper's rates, basis points of value.
    pub buy_bps: u32,
    /// Fee on sells under the paper's rates, basis points of value.
    pub sell_bps: u32,
    /// Commission under dated fees, on buys and sells, basis points of value.
    pub commission_bps: u32,
    /// Least fee of one order; under dated fees the least commission.
    pub min_fee: Fen,
    /// What becomes of share counts that were decided before an ex-day.
    pub ex_day_orders: ExDayOrders,
    /// What a delisted holding turns into.
    pub delisting: Delisting,
    /// On which missed trading day a name whose rows have ended is delisted.
    pub delist_after_days: u32,
    /// Least length of an order's reason, in Unicode characters after trimming.
    pub min_reason_chars: u32,
}

impl Rules {
    /// How the exchange's limits of a board become whole fen.
    #[must_use]
    pub const fn limit_rounding(&self, board: Board) -> LimitRounding {
        match board {
            Board::Bse => self.bse_limits,
            Board::Main | Board::ChiNext | Board::Star => LimitRounding::HalfUp,
        }
    }

    /// The exchange's limit on a day, basis points of the reference price.
    #[must_use]
    pub fn exact_limit_bp(&self, board: Board, is_st: bool, date: TradeDate) -> u32 {
        match board {
            Board::Main if is_st && date < self.st_main_new_from => self.exact_bp_st_main,
            Board::ChiNext if date < self.chinext_new_from => self.exact_bp_chinext_old,
            Board::Main | Board::ChiNext | Board::Star | Board::Bse => self.exact_bp.get(board),
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        let chinext_reform = TradeDate::of(2020, 8, 24);
        Self {
            initial_cash: Fen(100_000_000),
            limit: LimitRule::Exact,
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
            bse_limits: LimitRounding::FloorCeil,
            exact_bp_st_main: 500,
            st_main_new_from: TradeDate::of(2026, 7, 6),
            exact_bp_chinext_old: 1000,
            chinext_new_from: chinext_reform,
            no_limit_days: ByBoard {
                main: 5,
                chinext: 5,
                star: 5,
                bse: 1,
            },
            no_limit_from: ByBoard {
                main: Some(TradeDate::of(2023, 4, 10)),
                chinext: Some(chinext_reform),
                star: None,
                bse: None,
            },
            max_single_weight_billionths: 200_000_000,
            max_positions: 20,
            fees: FeeRule::Paper,
            buy_bps: 5,
            sell_bps: 15,
            commission_bps: 5,
            min_fee: Fen(500),
            ex_day_orders: ExDayOrders::Scaled,
            delisting: Delisting::LastClose,
            delist_after_days: 20,
            min_reason_chars: 10,
        }
    }
}
