//! The exchange's numbers. Every one is a configuration key; the default is that of docs/spec/exchange.md.

use super::standing::Standing;
use crate::day::TradeDate;
use crate::market::Market;
use crate::money::{Fen, Shares};
use crate::ticker::Board;

const BILLION: u64 = 1_000_000_000;

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

/// What becomes of an order whose limit the open stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitOpenRule {
    /// It rests at the limit and fills there where the price leaves the limit later on the day (default).
    Queue,
    /// It does not fill.
    Blocked,
}

/// How the exchange's limits become whole fen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitRounding {
    /// The upper one is cut down and the lower one up, so that neither lies beyond the span: Beijing's.
    FloorCeil,
    /// Half-up: Shanghai's and Shenzhen's.
    HalfUp,
}

/// What pays for the buys of an open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuctionCash {
    /// Cash held before the open alone: a buy freezes its count at the upper limit, fee included, as brokers do.
    Before,
    /// What sells of the same open bring as well (default).
    Shared,
}

/// What an order costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeeRule {
    /// The paper's flat rates on buys and on sells, with one least fee.
    Paper,
    /// Commission with its least fee, and stamp duty and transfer fee of the trading day on top (default).
    Dated,
}

impl FeeRule {
    /// The other schedule, for a comparison.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Paper => Self::Dated,
            Self::Dated => Self::Paper,
        }
    }
}

/// Whether dividends are taxed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DividendTaxRule {
    /// They are not.
    None,
    /// By the schedule of their record day, when the shares are sold, where the panel has dividends (default).
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

/// A largest share of the volume that a name trades on a day, above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VolumeShare {
    billionths: u64,
}

impl VolumeShare {
    /// So many billionths; `None` for nothing and for more than all of it.
    #[must_use]
    pub const fn from_billionths(billionths: u64) -> Option<Self> {
        if 0 < billionths && billionths <= BILLION {
            Some(Self { billionths })
        } else {
            None
        }
    }

    /// Billionths of the volume.
    #[must_use]
    pub const fn billionths(self) -> u64 {
        self.billionths
    }

    /// That share of a volume, rounded down to whole shares.
    pub(super) fn of(self, volume: u64) -> Shares {
        let most = u128::from(volume) * u128::from(self.billionths) / u128::from(BILLION);
        Shares(i64::try_from(most).unwrap_or(i64::MAX))
    }
}

/// First day of the limit of S shares.
const UNREFORMED_FROM: TradeDate = TradeDate::of(2007, 1, 8);

/// A limit that is narrower than its board's.
struct NarrowerLimit {
    board: Board,
    /// Of which names; `None` of all.
    standing: Option<Standing>,
    from: TradeDate,
    until_excl: TradeDate,
    bp: u32,
}

impl NarrowerLimit {
    fn holds(&self, board: Board, standing: Standing, date: TradeDate) -> bool {
        let is_of = self.board == board && self.standing.is_none_or(|of| of == standing);
        is_of && self.from <= date && date < self.until_excl
    }
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
    /// What becomes of an order whose limit the open stands at.
    pub limit_open: LimitOpenRule,
    /// What pays for the buys of an open.
    pub auction_cash: AuctionCash,
    /// Whether an open strictly beyond the exchange's own limit proves that no limit holds that day.
    pub no_limit_beyond: bool,
    /// Largest weight of one name after a buy, in billionths of NAV.
    pub max_single_weight_billionths: u64,
    /// Most names held.
    pub max_positions: u32,
    /// The largest share of the day's volume that one order trades; `None` for no bound.
    pub max_volume_share: Option<VolumeShare>,
    /// The same for controls, whose accounts outgrow the market that they foresee.
    pub control_volume_share: Option<VolumeShare>,
    /// What an order costs.
    pub fees: FeeRule,
    /// Fee on buys under the paper's rates, basis points of value.
    pub buy_bps: u32,
    /// Fee on sells under the paper's rates, basis points of value.
    pub sell_bps: u32,
    /// Commission under dated fees, on buys and sells, tenths of a basis point of value.
    pub commission_tenth_bps: u32,
    /// Least fee of one order; under dated fees the least commission.
    pub min_fee: Fen,
    /// Whether dividends are taxed.
    pub dividend_tax: DividendTaxRule,
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
    /// The same with the controls' bound of volume in the place of all others'.
    #[must_use]
    pub fn of_control(self) -> Self {
        Self {
            max_volume_share: self.control_volume_share,
            ..self
        }
    }

    /// Whether sales on a market pay tax on dividends.
    #[must_use]
    pub fn tax_dividends(&self, market: &Market) -> bool {
        self.dividend_tax == DividendTaxRule::Dated && market.has_dividends()
    }

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
    pub fn exact_limit_bp(&self, board: Board, standing: Standing, date: TradeDate) -> u32 {
        let rows = self.narrower_limits();
        let row = rows.iter().find(|row| row.holds(board, standing, date));
        row.map_or_else(|| self.exact_bp.get(board), |row| row.bp)
    }

    /// Limits that are or were narrower than their board's (docs/spec/exchange.md#limits).
    fn narrower_limits(&self) -> [NarrowerLimit; 3] {
        let row = |board, standing, (from, until_excl), bp| NarrowerLimit {
            board,
            standing,
            from,
            until_excl,
            bp,
        };
        let (st, unreformed) = (Some(Standing::SpecialTreatment), Some(Standing::Unreformed));
        let (first, last) = (TradeDate::earliest(), TradeDate::LATEST);
        [
            row(
                Board::Main,
                st,
                (first, self.st_main_new_from),
                self.exact_bp_st_main,
            ),
            row(
                Board::Main,
                unreformed,
                (UNREFORMED_FROM, last),
                self.exact_bp_st_main,
            ),
            row(
                Board::ChiNext,
                None,
                (first, self.chinext_new_from),
                self.exact_bp_chinext_old,
            ),
        ]
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
            limit_open: LimitOpenRule::Queue,
            no_limit_beyond: true,
            auction_cash: AuctionCash::Shared,
            max_single_weight_billionths: 200_000_000,
            max_positions: 20,
            max_volume_share: None,
            control_volume_share: VolumeShare::from_billionths(BILLION / 10),
            fees: FeeRule::Dated,
            buy_bps: 5,
            sell_bps: 15,
            commission_tenth_bps: 50,
            min_fee: Fen(500),
            dividend_tax: DividendTaxRule::Dated,
            ex_day_orders: ExDayOrders::Scaled,
            delisting: Delisting::LastClose,
            delist_after_days: 20,
            min_reason_chars: 10,
        }
    }
}
