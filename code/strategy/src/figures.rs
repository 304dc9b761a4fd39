//! What a run earned: return, risk, turnover, costs, and how much of it hangs on the fill.

use crate::bars::{BarTime, StrategyBars};
use crate::indicators::{count, mean, sample_deviation};
use crate::logs::{TradeRow, TradeSide};
use std::collections::BTreeMap;

/// Sessions a year.
const SESSIONS_A_YEAR: f64 = 252.0;
/// A deviation of daily returns that counts as none.
const NO_DEVIATION: f64 = 1e-12;
/// Basis points of one.
const BASIS_POINTS: f64 = 10_000.0;
/// Costs that runs are shown at, in basis points of each side's value.
pub const COSTS_BPS: [f64; 6] = [0.0, 0.1, 1.0, 5.0, 10.0, 20.0];

/// Equity after each bar, in units of account, oldest first.
pub type EquityCurve = Vec<(BarTime, f64)>;

/// Figures of a run; a session is a calendar day with bars.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFigures {
    /// Sessions.
    pub sessions: usize,
    /// Last equity over capital, less 1.
    pub total_return: f64,
    /// Mean over sample deviation of sessions' returns, times the root of 252; `None` where nothing deviates.
    pub sharpe: Option<f64>,
    /// Deepest fall of equity below its peak at a session's end, as a share of the peak.
    pub max_drawdown: f64,
    /// Closed trades.
    pub trades: usize,
    /// Share of trades with a profit; `None` without a trade.
    pub win_rate: Option<f64>,
    /// Value bought and sold by closed trades.
    pub traded_value: f64,
    /// Value traded a year over mean equity.
    pub turnover: f64,
    /// Cost in basis points at which the trades earn nothing; `None` without a trade.
    pub break_even_bps: Option<f64>,
}

impl RunFigures {
    /// Figures of trades and an equity curve begun with `capital`; `None` without a bar.
    #[must_use]
    pub fn of(trades: &[TradeRow], curve: &EquityCurve, capital: f64) -> Option<Self> {
        let mut ends: BTreeMap<&str, f64> = BTreeMap::new();
        for (time, equity) in curve {
            ends.insert(time.day(), *equity);
        }
        let ends: Vec<f64> = ends.into_values().collect();
        let path: Vec<f64> = std::iter::once(capital).chain(ends.iter().copied()).collect();
        let returns: Vec<f64> = path
            .windows(2)
            .filter_map(|pair| Some(pair.get(1)? / pair.first()? - 1.0))
            .collect();
        let deviation = sample_deviation(&returns).filter(|deviation| *deviation > NO_DEVIATION);
        let profit: f64 = trades.iter().map(|trade| trade.pnl).sum();
        let traded_value: f64 = trades
            .iter()
            .map(|trade| trade.quantity * (trade.entry_price + trade.exit_price))
            .sum();
        let wins = trades.iter().filter(|trade| trade.pnl > 0.0).count();
        let has_trades = !trades.is_empty();
        Some(Self {
            sessions: ends.len(),
            total_return: ends.last()? / capital - 1.0,
            sharpe: mean(&returns)
                .zip(deviation)
                .map(|(mean, deviation)| SESSIONS_A_YEAR.sqrt() * mean / deviation),
            max_drawdown: deepest_fall(&path),
            trades: trades.len(),
            win_rate: has_trades.then(|| count(wins) / count(trades.len())),
            traded_value,
            turnover: traded_value / mean(&ends)? * SESSIONS_A_YEAR / count(ends.len()),
            break_even_bps: (traded_value > 0.0).then(|| profit / traded_value * BASIS_POINTS),
        })
    }
}

fn deepest_fall(path: &[f64]) -> f64 {
    let mut peak = f64::NEG_INFINITY;
    path.iter().fold(0.0, |deepest: f64, equity| {
        peak = peak.max(*equity);
        deepest.max(1.0 - equity / peak)
    })
}

/// The equity curve after costs: each side of a closed trade pays its value times `bps` / 10,000 at its own bar.
#[must_use]
pub fn curve_after_costs(trades: &[TradeRow], curve: &EquityCurve, bps: f64) -> EquityCurve {
    let mut charges: BTreeMap<&BarTime, f64> = BTreeMap::new();
    for trade in trades {
        let sides = [
            (&trade.entry_time, trade.entry_price),
            (&trade.exit_time, trade.exit_price),
        ];
        for (time, price) in sides {
            *charges.entry(time).or_insert(0.0) += trade.quantity * price * bps / BASIS_POINTS;
        }
    }
    let mut paid = 0.0;
    curve
        .iter()
        .map(|(time, equity)| {
            paid += charges.get(time).copied().unwrap_or(0.0);
            (time.clone(), equity - paid)
        })
        .collect()
}

/// Profit with both fills of every trade moved to the open of the next bar; a fill on the last bar stays.
#[must_use]
pub fn profit_at_next_open(trades: &[TradeRow], market: &StrategyBars) -> f64 {
    trades
        .iter()
        .map(|trade| {
            let fill = |time: &BarTime, price: f64| open_after(market, &trade.symbol, time).unwrap_or(price);
            let move_up =
                fill(&trade.exit_time, trade.exit_price) - fill(&trade.entry_time, trade.entry_price);
            match trade.side {
                TradeSide::Long => trade.quantity * move_up,
                TradeSide::Short => -trade.quantity * move_up,
            }
        })
        .sum()
}

fn open_after(market: &StrategyBars, symbol: &str, time: &BarTime) -> Option<f64> {
    let (_, bars) = market.assets.iter().find(|(known, _)| known == symbol)?;
    let bar = bars.times.binary_search(time).ok()?;
    bars.open.get(bar + 1).copied()
}
