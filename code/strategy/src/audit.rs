//! The gate on the logs themselves: whether their cells are filled, and whether trades can be traced to bars and prices.

use crate::bars::{BarTime, StrategyBars};
use crate::candidate::{CandidateLogs, CandidateTable};
use crate::document::StrategyDocument;
use crate::indicators::count;
use crate::trade_hash::is_close;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Share of required cells that must be filled.
pub(crate) const COMPLETENESS_MIN: f64 = 0.95;
/// Trades that are traced, evenly spaced.
const TRACED_TRADES: usize = 10;

/// Columns of the log of trades, of every document.
pub const TRADE_COLUMNS: [&str; 11] = [
    "trade_id",
    "symbol",
    "side",
    "entry_datetime",
    "exit_datetime",
    "entry_price",
    "exit_price",
    "quantity",
    "pnl",
    "reason_entry",
    "reason_exit",
];
/// Columns of the log of bars that every document has.
pub const BAR_COLUMNS: [&str; 7] = [
    "datetime",
    "close",
    "signal",
    "position_state",
    "exposure",
    "equity",
    "constraint_check",
];

/// Filled cells over required ones, in both logs; 1 where none is required. Columns of the document are required from the
/// bar after its warm-up on; a missing column is all empty.
#[must_use]
pub fn completeness(logs: &CandidateLogs, document: &StrategyDocument) -> f64 {
    let after_warm_up = document.warm_up_bars + 1;
    let trades = TRADE_COLUMNS.iter().map(|name| filled(&logs.trades, name, 0));
    let bars = BAR_COLUMNS.iter().map(|name| filled(&logs.bars, name, 0));
    let own = document
        .columns
        .iter()
        .map(|name| filled(&logs.bars, name, after_warm_up));
    let (has, needs) = trades
        .chain(bars)
        .chain(own)
        .fold((0, 0), |(has, needs), (own, of)| (has + own, needs + of));
    if needs == 0 {
        1.0
    } else {
        count(has) / count(needs)
    }
}

/// Filled and required cells of a column from a row on.
fn filled(log: &CandidateTable, name: &str, first: usize) -> (usize, usize) {
    let rows = first..log.len();
    let has = rows
        .clone()
        .filter(|row| !log.cell(name, *row).is_missing())
        .count();
    (has, rows.len())
}

/// What keeps a trade from being traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenTrace {
    /// The trade, from 1; `None` for the run as a whole.
    pub trade: Option<usize>,
    /// What does not fit.
    pub problem: String,
}

impl fmt::Display for BrokenTrace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.trade {
            Some(trade) => write!(formatter, "trade {trade}: {}", self.problem),
            None => formatter.write_str(&self.problem),
        }
    }
}

/// The first of ten trades, evenly spaced, that the log of bars and the market do not bear out; or an equity at the end that
/// is not capital plus profit. `None` where all fit.
#[must_use]
pub fn broken_trace(logs: &CandidateLogs, market: &StrategyBars, capital: f64) -> Option<BrokenTrace> {
    let trace = Trace::of(logs, market);
    let trades = logs.trades.len();
    let picked: BTreeSet<usize> = (0..TRACED_TRADES)
        .filter_map(|place| Some(place * trades.checked_sub(1)? / (TRACED_TRADES - 1)))
        .collect();
    let broken = picked.into_iter().find_map(|trade| {
        let problem = trace.problem(trade)?;
        Some(BrokenTrace {
            trade: Some(trade + 1),
            problem,
        })
    });
    broken.or_else(|| trace.equity_problem(capital))
}

/// The first place where the log of bars is not one row a bar of the market, in order. `None` where it is.
#[must_use]
pub fn misplaced_row(bars: &CandidateTable, market: &StrategyBars) -> Option<String> {
    let times = market.times();
    if bars.len() != times.len() {
        return Some(format!(
            "the log of bars has {} rows for {} bars",
            bars.len(),
            times.len()
        ));
    }
    let misplaced = |(row, time): (usize, &BarTime)| {
        (bars.text("datetime", row) != Some(time.as_str()))
            .then(|| format!("row {row} of the log of bars is not the bar of {time}"))
    };
    times.iter().enumerate().find_map(misplaced)
}

/// Share of the logs that can be traced, 0 to 1: of the market's bars that have their row in the log of bars, times that of **all**
/// trades that the log of bars and the market bear out; 0 where the equity at the end is not capital plus profit. A row that is no
/// bar of its own, or out of order, counts as a bar without a row.
#[must_use]
pub(crate) fn traced_share(logs: &CandidateLogs, market: &StrategyBars, capital: f64) -> f64 {
    let trace = Trace::of(logs, market);
    if trace.equity_problem(capital).is_some() {
        return 0.0;
    }
    let placed = placed_rows(&logs.bars, market);
    let rows = logs.bars.len().max(market.times().len());
    let trades = 0..logs.trades.len();
    let traced = trades
        .clone()
        .filter(|trade| trace.problem(*trade).is_none())
        .count();
    let share = |part: usize, of: usize| if of == 0 { 1.0 } else { count(part) / count(of) };
    share(placed, rows) * share(traced, trades.len())
}

/// Rows of the log of bars that are bars of the market, each after the one before.
fn placed_rows(bars: &CandidateTable, market: &StrategyBars) -> usize {
    let times = market.times();
    let mut last: Option<&str> = None;
    let placed = (0..bars.len()).filter(|row| {
        let own = bars
            .text("datetime", *row)
            .filter(|own| last.is_none_or(|last| last < *own));
        let own = own.filter(|own| times.binary_search_by(|time| time.as_str().cmp(own)).is_ok());
        last = own.or(last);
        own.is_some()
    });
    placed.count()
}

/// Columns that a document requires and a run's logs lack.
#[must_use]
pub fn missing_columns(logs: &CandidateLogs, document: &StrategyDocument) -> Vec<String> {
    let of_trades = TRADE_COLUMNS
        .iter()
        .filter(|name| logs.trades.column(name).is_none());
    let of_bars = BAR_COLUMNS
        .iter()
        .copied()
        .chain(document.columns.iter().map(String::as_str));
    let of_bars = of_bars.filter(|name| logs.bars.column(name).is_none());
    of_trades.copied().chain(of_bars).map(str::to_owned).collect()
}

/// Logs and closes, by the time of a bar.
struct Trace<'a> {
    logs: &'a CandidateLogs,
    /// The row of each time in the log of bars.
    rows: BTreeMap<&'a str, usize>,
    closes: BTreeMap<&'a str, BTreeMap<&'a str, f64>>,
    /// The first leg; every other one of several may be on either side.
    first_symbol: Option<&'a str>,
    is_multi_asset: bool,
}

impl<'a> Trace<'a> {
    fn of(logs: &'a CandidateLogs, market: &'a StrategyBars) -> Self {
        let rows = (0..logs.bars.len()).filter_map(|row| Some((logs.bars.text("datetime", row)?, row)));
        let closes = market.assets.iter().map(|(symbol, bars)| {
            let own = bars.times.iter().zip(&bars.close);
            (
                symbol.as_str(),
                own.map(|(time, close)| (time.as_str(), *close)).collect(),
            )
        });
        let mut symbols = market.assets.iter().map(|(symbol, _)| symbol.as_str());
        Self {
            logs,
            rows: rows.collect(),
            closes: closes.collect(),
            first_symbol: symbols.find(|symbol| *symbol != "INDEX"),
            is_multi_asset: market.assets.len() > 1,
        }
    }

    fn problem(&self, trade: usize) -> Option<String> {
        self.traced(trade).err()
    }

    fn traced(&self, trade: usize) -> Result<(), String> {
        let trades = &self.logs.trades;
        let text = |name: &str| trades.text(name, trade).ok_or_else(|| format!("no {name}"));
        let number = |name: &str| trades.number(name, trade).ok_or_else(|| format!("no {name}"));
        let (symbol, side) = (text("symbol")?, text("side")?);
        let (entry, exit) = (text("entry_datetime")?, text("exit_datetime")?);
        let closes = if self.is_multi_asset {
            self.closes.get(symbol)
        } else {
            self.closes.values().next()
        };
        let closes = closes.ok_or_else(|| format!("the symbol {symbol:?} is not traded"))?;
        let row = |time: &str, which: &str| {
            let row = self.rows.get(time).copied();
            row.ok_or_else(|| format!("no row of bars at its {which}"))
        };
        let (entry_row, exit_row) = (row(entry, "entry")?, row(exit, "exit")?);
        self.check_signals((symbol, side), entry_row, exit_row)?;
        let (entry_price, exit_price) = (number("entry_price")?, number("exit_price")?);
        if !closes.get(exit).is_some_and(|close| is_close(exit_price, *close)) {
            return Err("the exit price is not the close of its bar".to_owned());
        }
        self.check_entry_price(entry_price, (entry, exit), (entry_row, exit_row), closes)?;
        let direction = if side == "LONG" { 1.0 } else { -1.0 };
        let profit = direction * number("quantity")? * (exit_price - entry_price);
        if is_close(number("pnl")?, profit) {
            Ok(())
        } else {
            Err("the profit is not quantity times the move".to_owned())
        }
    }

    fn check_signals(&self, (symbol, side): (&str, &str), entry: usize, exit: usize) -> Result<(), String> {
        let signal = |row| self.logs.bars.text("signal", row).unwrap_or("NONE");
        let is_other_leg = self.is_multi_asset && self.first_symbol != Some(symbol);
        let own = signal(entry);
        let fits = match own {
            "REBALANCE" => true,
            "LONG" | "SHORT" => is_other_leg || own == side,
            _ => false,
        };
        if !fits {
            return Err(format!("{side} entered on the signal {own}"));
        }
        if signal(exit) == "NONE" {
            return Err("no signal at the exit".to_owned());
        }
        Ok(())
    }

    /// The close of the entry's bar; between the closes of its life where units were added.
    fn check_entry_price(
        &self,
        price: f64,
        (entry, exit): (&str, &str),
        (entry_row, exit_row): (usize, usize),
        closes: &BTreeMap<&str, f64>,
    ) -> Result<(), String> {
        let is_added_to = (entry_row..=exit_row).any(|row| self.logs.bars.text("signal", row) == Some("ADD"));
        let fits = if is_added_to {
            let life = || {
                closes
                    .iter()
                    .filter(|(time, _)| entry <= **time && **time <= exit)
                    .map(|(_, close)| *close)
            };
            let (least, most) = (
                life().fold(f64::INFINITY, f64::min),
                life().fold(f64::NEG_INFINITY, f64::max),
            );
            least - 1e-9 <= price && price <= most + 1e-9
        } else {
            closes.get(entry).is_some_and(|close| is_close(price, *close))
        };
        if fits {
            Ok(())
        } else {
            Err("the entry price is not the close of its bar".to_owned())
        }
    }

    /// Flat at the end, equity is capital plus the profit of all trades.
    fn equity_problem(&self, capital: f64) -> Option<BrokenTrace> {
        let last = self.logs.bars.len().checked_sub(1)?;
        let is_flat = self.logs.bars.text("position_state", last) == Some("FLAT");
        if !is_flat || self.logs.trades.is_empty() {
            return None;
        }
        let profit: Option<f64> = (0..self.logs.trades.len())
            .map(|trade| self.logs.trades.number("pnl", trade))
            .sum();
        let equity = self.logs.bars.number("equity", last);
        let fits = equity
            .zip(profit)
            .is_some_and(|(equity, profit)| is_close(equity, capital + profit));
        (!fits).then(|| BrokenTrace {
            trade: None,
            problem: "the equity at the end is not capital plus profit".to_owned(),
        })
    }
}
