//! From latent returns to what a data vendor would have: whole fen, exact limits, halts, ex-dates, volume.
//!
//! A name's *value* follows its latent returns without bounds. The price follows the value as far as grid and
//! limits let it; what a limit cut off is caught up on the days after, which is how boards of one price arise.

use super::calendar::Session;
use super::draws::{exponential, float, whole};
use super::events::{Distribution, Life};
use super::names::Identity;
use super::returns::Move;
use super::traits::Traits;
use crate::day::TradeDate;
use crate::exchange::{Rules, Standing};
use crate::money::divide_half_up as checked_half_up;
use crate::seed::KeyedStream;
use crate::ticker::Board;

/// One row of a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SynthBar {
    /// Place in the calendar.
    pub(super) day: usize,
    pub(super) open_fen: i64,
    pub(super) high_fen: i64,
    pub(super) low_fen: i64,
    pub(super) close_fen: i64,
    /// 0 on a halted day.
    pub(super) volume: i64,
    pub(super) amount_cny: f64,
    pub(super) factor_millionths: u64,
    /// Free-float shares, for the index.
    pub(super) shares: i64,
}

/// The lowest and the highest price of a day, in fen.
type Band = (i64, i64);

const MILLION: i64 = 1_000_000;
const FEN_PER_YUAN: f64 = 100.0;
const LARGEST_PRICE_FEN: f64 = 1.0e9;
const BASIS: i64 = 10_000;
/// What limits may hold back at most, log: three limits of the main board; beyond it the news is forgotten.
const LARGEST_BACKLOG: f64 = 0.3;
/// A doomed name's further log-return a day while it falls.
const DECLINE: f64 = -0.004;
/// A newcomer's first days move and trade more.
const YOUNG_DAYS: usize = 5;
const YOUNG_MOVES: f64 = 2.5;
const YOUNG_ACTIVITY: f64 = 1.6;
/// Volume of a day spent at one price, where sellers (or buyers) are missing.
const ONE_PRICE_ACTIVITY: f64 = -1.8;
/// The least dividend worth paying, fen a share.
const LEAST_DIVIDEND_FEN: f64 = 1.0;

/// The rows of one name.
pub(super) fn path(
    stream: &mut KeyedStream,
    rules: &Rules,
    (identity, traits, life): (&Identity, &Traits, &Life),
    (sessions, moves): (&[Session], &[Move]),
) -> Vec<SynthBar> {
    let mut walker = Walker::start(identity.board(), traits);
    let mut distributions = life.distributions.iter().peekable();
    let mut bars = Vec::with_capacity(moves.len());
    let lived = moves
        .iter()
        .zip(sessions)
        .enumerate()
        .take(life.last_day + 1)
        .skip(life.first_day);
    for (day, (drawn, session)) in lived {
        let drawn = adjusted(drawn, life, day);
        if let Some(halt) = life.halt(day) {
            walker.value += drawn.overnight + drawn.intraday;
            bars.extend(walker.halted_bar(day).filter(|_| !halt.has_no_rows));
            continue;
        }
        // A newcomer pays nothing before its first close, and what falls due in a halt waits for its end.
        while let Some(due) = distributions.next_if(|due| due.day <= day) {
            if due.day > life.first_day {
                walker.distribute(due);
            }
        }
        let band = walker
            .limit_bp(rules, life, (day, session.date))
            .and_then(|bp| Some(limit_band(walker.reference_fen?, bp)));
        bars.push(walker.traded_bar(stream, traits, day, &drawn, band));
    }
    bars
}

/// The latent move of a name at its own stage of life.
fn adjusted(drawn: &Move, life: &Life, day: usize) -> Move {
    let mut adjusted = *drawn;
    if life.decline_from.is_some_and(|from| from <= day) {
        adjusted.intraday += DECLINE;
    }
    if life.first_day > 0 && day < life.first_day + YOUNG_DAYS {
        adjusted.overnight *= YOUNG_MOVES;
        adjusted.intraday *= YOUNG_MOVES;
        adjusted.intraday_sd *= YOUNG_MOVES;
        adjusted.activity += YOUNG_ACTIVITY;
    }
    adjusted
}

/// Prices and counts of a synthetic market stay far below what an account counts.
fn divide_half_up(numerator: i128, denominator: i128) -> i64 {
    checked_half_up(numerator, denominator).unwrap_or(i64::MAX)
}

/// The exchange's own limits: reference x (10000 ± bp) / 10000, half-up to a fen (docs/spec/exchange.md#limits).
fn limit_band(reference_fen: i64, bp: u32) -> Band {
    let at = |basis: i64| divide_half_up(i128::from(reference_fen) * i128::from(basis), i128::from(BASIS));
    (at(BASIS - i64::from(bp)), at(BASIS + i64::from(bp)))
}

struct Walker {
    board: Board,
    /// Log of the fair price in yuan times the factor.
    value: f64,
    factor_millionths: u64,
    shares: i64,
    previous_close_fen: Option<i64>,
    /// The previous close, or on an ex-day what it is worth after the distribution.
    reference_fen: Option<i64>,
}

impl Walker {
    fn start(board: Board, traits: &Traits) -> Self {
        let factor = factor_value(traits.factor_millionths);
        Self {
            board,
            value: libm::log(traits.first_price_yuan * factor),
            factor_millionths: traits.factor_millionths,
            shares: traits.shares,
            previous_close_fen: None,
            reference_fen: None,
        }
    }

    /// The day's limit in basis points; `None` on a listing's first days.
    fn limit_bp(&self, rules: &Rules, life: &Life, (day, date): (usize, TradeDate)) -> Option<u32> {
        let is_new_rule = rules
            .no_limit_from
            .get(self.board)
            .is_none_or(|from| from <= life.listed);
        let age_days = u32::try_from(day - life.first_day).unwrap_or(u32::MAX);
        if life.first_day > 0 && is_new_rule && age_days < rules.no_limit_days.get(self.board) {
            return None;
        }
        let standing = if life.is_st(day) {
            Standing::SpecialTreatment
        } else {
            Standing::Plain
        };
        Some(rules.exact_limit_bp(self.board, standing, date))
    }

    /// Moves the factor so that the reference price is the previous close less the dividend, spread over the
    /// bonus shares: F' = F x close x (10 + bonus) / (10 x (close − dividend)), rounded to a millionth.
    fn distribute(&mut self, due: &Distribution) {
        let Some(close_fen) = self.previous_close_fen else {
            return;
        };
        let dividend = due.cash_yield * float(close_fen);
        let dividend_fen = if dividend < LEAST_DIVIDEND_FEN {
            0
        } else {
            whole(dividend)
        };
        let per_ten = 10 + i64::from(due.bonus_per_ten);
        let old = self.factor_millionths;
        let numerator = i128::from(old) * i128::from(close_fen) * i128::from(per_ten);
        let new = divide_half_up(numerator, i128::from(close_fen - dividend_fen) * 10);
        self.factor_millionths = u64::try_from(new).unwrap_or(old);
        self.shares = divide_half_up(i128::from(self.shares) * i128::from(per_ten), 10);
        self.reference_fen = Some(divide_half_up(
            i128::from(close_fen) * i128::from(old),
            i128::from(self.factor_millionths),
        ));
    }

    fn halted_bar(&self, day: usize) -> Option<SynthBar> {
        let close_fen = self.previous_close_fen?;
        Some(SynthBar {
            day,
            open_fen: close_fen,
            high_fen: close_fen,
            low_fen: close_fen,
            close_fen,
            volume: 0,
            amount_cny: 0.0,
            factor_millionths: self.factor_millionths,
            shares: self.shares,
        })
    }

    fn traded_bar(
        &mut self,
        stream: &mut KeyedStream,
        traits: &Traits,
        day: usize,
        drawn: &Move,
        band: Option<Band>,
    ) -> SynthBar {
        let open = self.value + drawn.overnight;
        let close = open + drawn.intraday;
        let (low, high) = extremes(stream, open, close, drawn.intraday_sd);
        let [open_fen, high_fen, low_fen, close_fen] =
            [open, high, low, close].map(|value| self.price_fen(value, band));
        let yuan_per_factor = float(close_fen) / FEN_PER_YUAN * factor_value(self.factor_millionths);
        let close_value = libm::log(yuan_per_factor);
        self.value = close.clamp(close_value - LARGEST_BACKLOG, close_value + LARGEST_BACKLOG);
        self.previous_close_fen = Some(close_fen);
        self.reference_fen = Some(close_fen);
        let is_one_price =
            high_fen == low_fen && band.is_some_and(|(low, high)| [low, high].contains(&close_fen));
        let activity = drawn.activity + if is_one_price { ONE_PRICE_ACTIVITY } else { 0.0 };
        let volume = whole(float(self.shares) * traits.turnover * libm::exp(activity)).clamp(1, self.shares);
        // The mean price of the day leans on its four prices; it lies between the lowest and the highest.
        let mean_fen = float(open_fen + high_fen + low_fen + close_fen) / 4.0;
        SynthBar {
            day,
            open_fen,
            high_fen,
            low_fen,
            close_fen,
            volume,
            amount_cny: (float(volume) * mean_fen).round() / FEN_PER_YUAN,
            factor_millionths: self.factor_millionths,
            shares: self.shares,
        }
    }

    /// The price a value shows as: the nearest fen within the day's limits.
    fn price_fen(&self, value: f64, band: Option<Band>) -> i64 {
        let fair_fen = libm::exp(value) / factor_value(self.factor_millionths) * FEN_PER_YUAN;
        let fen = whole(fair_fen.clamp(1.0, LARGEST_PRICE_FEN));
        band.map_or(fen, |(low, high)| fen.clamp(low.min(high), high))
    }
}

fn factor_value(millionths: u64) -> f64 {
    float(i64::try_from(millionths).unwrap_or(MILLION)) / float(MILLION)
}

/// Lowest and highest point of a Brownian path from `open` to `close`, each drawn from its exact law given the
/// ends: max = (o + c + sqrt((c − o)² + 2 sd² E)) / 2 with E exponential of mean 1, and the minimum by symmetry.
fn extremes(stream: &mut KeyedStream, open: f64, close: f64, sd: f64) -> (f64, f64) {
    let (middle, spread) = (f64::midpoint(open, close), (close - open) * (close - open));
    let mut reach = || (spread + 2.0 * sd * sd * exponential(stream)).sqrt() / 2.0;
    let high = middle + reach();
    (middle - reach(), high)
}
