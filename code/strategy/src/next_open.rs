//! Fills at the next open: what a run would have earned, had every order waited for the open of the bar after its signal.

use crate::bars::{AssetBars, BarTime, StrategyBars};
use crate::figures::EquityCurve;
use crate::indicators::count;
use crate::logs::{TradeRow, TradeSide};
use std::collections::BTreeMap;

/// Trades and curve of a run with every fill moved to the open of the bar after the signal. Signals and quantities stay those
/// of the run. A fill on the last bar stays, as no open follows it, and so does the entry of a holding that is never closed:
/// no log says what was paid for it. `adds` are the bars on which a run added units of one size to its one holding; the entry
/// of such a trade is the mean of the moved fills.
#[must_use]
pub(crate) fn moved_to_next_open(
    trades: &[TradeRow],
    curve: &EquityCurve,
    market: &StrategyBars,
    adds: &[BarTime],
) -> (Vec<TradeRow>, EquityCurve) {
    let mut paid: BTreeMap<&BarTime, f64> = BTreeMap::new();
    let moved = trades
        .iter()
        .map(|trade| {
            let bars = market.assets.iter().find(|(symbol, _)| *symbol == trade.symbol);
            bars.map_or_else(|| trade.clone(), |(_, bars)| moved(trade, bars, adds, &mut paid))
        })
        .collect();
    let mut sum = 0.0;
    let curve = curve.iter().map(|(time, equity)| {
        sum += paid.get(time).copied().unwrap_or(0.0);
        (time.clone(), equity + sum)
    });
    (moved, curve.collect())
}

/// The bar after a stamp, and its open.
fn next_open<'b>(bars: &'b AssetBars, time: &BarTime) -> Option<(&'b BarTime, f64)> {
    let next = bars.times.binary_search(time).ok()? + 1;
    let open = bars.open.get(next).filter(|open| open.is_finite())?;
    Some((bars.times.get(next)?, *open))
}

/// A trade at the opens after its signals; what each moved fill does to the equity goes into `paid`, at the bar of the fill.
fn moved<'b>(
    trade: &TradeRow,
    bars: &'b AssetBars,
    adds: &[BarTime],
    paid: &mut BTreeMap<&'b BarTime, f64>,
) -> TradeRow {
    let direction = match trade.side {
        TradeSide::Long => 1.0,
        TradeSide::Short => -1.0,
    };
    let life = adds.iter();
    let adds: Vec<&BarTime> = life
        .filter(|time| trade.entry_time < **time && **time < trade.exit_time)
        .collect();
    let units = count(adds.len() + 1);
    let mut fill = |time: &BarTime, price: f64, quantity: f64| {
        let Some((at, open)) = next_open(bars, time) else {
            return price;
        };
        *paid.entry(at).or_insert(0.0) += direction * quantity * (price - open);
        open
    };
    let entry_price = if adds.is_empty() {
        fill(&trade.entry_time, trade.entry_price, trade.quantity)
    } else {
        let close = |time: &BarTime| {
            let bar = bars.times.binary_search(time).ok();
            bar.and_then(|bar| bars.close.get(bar)).copied()
        };
        let fills = std::iter::once(&trade.entry_time).chain(adds);
        let prices = fills.map(|time| {
            let price = close(time).unwrap_or(trade.entry_price);
            fill(time, price, trade.quantity / units)
        });
        prices.sum::<f64>() / units
    };
    let exit_price = fill(&trade.exit_time, trade.exit_price, -trade.quantity);
    let time_of = |time: &BarTime| next_open(bars, time).map_or_else(|| time.clone(), |(at, _)| at.clone());
    TradeRow {
        entry_time: time_of(&trade.entry_time),
        exit_time: time_of(&trade.exit_time),
        entry_price,
        exit_price,
        pnl: direction * trade.quantity * (exit_price - entry_price),
        ..trade.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(day: usize) -> BarTime {
        BarTime::parse(&format!("2021-01-{day:02}T00:00:00")).unwrap()
    }

    /// Closes 10, 11, .. and opens half a unit above the close before.
    fn market() -> StrategyBars {
        let close: Vec<f64> = (0..6).map(|bar| 10.0 + f64::from(bar)).collect();
        let bars = AssetBars {
            times: (1..7).map(time).collect(),
            open: close.iter().map(|close| close - 0.5).collect(),
            close,
            ..AssetBars::default()
        };
        StrategyBars {
            assets: vec![("A".to_owned(), bars)],
        }
    }

    fn trade(entry: usize, exit: usize, entry_price: f64, exit_price: f64) -> TradeRow {
        TradeRow {
            symbol: "A".to_owned(),
            side: TradeSide::Long,
            entry_time: time(entry),
            exit_time: time(exit),
            entry_price,
            exit_price,
            quantity: 2.0,
            pnl: 2.0 * (exit_price - entry_price),
            entry_rule: String::new(),
            exit_rule: String::new(),
        }
    }

    fn curve(equity: [f64; 6]) -> EquityCurve {
        (1..7).map(time).zip(equity).collect()
    }

    #[test]
    fn a_curve_pays_for_each_fill_on_the_bar_after_its_signal() {
        let trades = [trade(2, 4, 11.0, 13.0)];
        let flat = curve([100.0, 100.0, 102.0, 104.0, 104.0, 104.0]);
        let (moved, after) = moved_to_next_open(&trades, &flat, &market(), &[]);
        let own = &moved[0];
        assert_eq!(
            (own.entry_time.clone(), own.exit_time.clone()),
            (time(3), time(5))
        );
        assert_eq!((own.entry_price, own.exit_price, own.pnl), (11.5, 13.5, 4.0));
        let equity: Vec<f64> = after.iter().map(|(_, equity)| *equity).collect();
        assert_eq!(equity, [100.0, 100.0, 101.0, 103.0, 104.0, 104.0]);
    }

    #[test]
    fn a_fill_on_the_last_bar_stays() {
        let trades = [trade(5, 6, 14.0, 15.0)];
        let flat = curve([100.0, 100.0, 100.0, 100.0, 100.0, 102.0]);
        let (moved, after) = moved_to_next_open(&trades, &flat, &market(), &[]);
        assert_eq!((moved[0].entry_price, moved[0].exit_price), (14.5, 15.0));
        assert_eq!(moved[0].exit_time, time(6));
        assert_eq!(after.last(), Some(&(time(6), 101.0)));
    }

    #[test]
    fn added_units_are_filled_each_at_its_own_open() {
        // One unit at 10, one at 12: bought at 11 on average, and at 10.5 and 12.5 an open later.
        let trades = [trade(1, 5, 11.0, 14.0)];
        let flat = curve([100.0, 101.0, 102.0, 104.0, 106.0, 106.0]);
        let (moved, after) = moved_to_next_open(&trades, &flat, &market(), &[time(3)]);
        assert_eq!((moved[0].entry_price, moved[0].exit_price), (11.5, 14.5));
        let equity: Vec<f64> = after.iter().map(|(_, equity)| *equity).collect();
        assert_eq!(equity, [100.0, 100.5, 101.5, 103.0, 105.0, 106.0]);
    }
}
