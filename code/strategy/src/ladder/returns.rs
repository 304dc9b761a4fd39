//! What the figures of D4, which has no score, do on the ladder of D1.

use super::bench::{Bench, SEED};
use super::likeness::{Deviation, Planted};
use crate::book::INITIAL_CAPITAL;
use crate::earnings::{FillPrice, RunEarnings};
use crate::indicators::count;
use crate::logs::{BarSignal, StrategyLogs, TradeSide};

/// The place of 10 basis points among the costs.
const TEN_BPS: usize = 4;

/// Logs whose trades are filled at the closes of their bars, and whose equity is what those trades make it.
fn settled(planted: Planted<'_>, logs: &StrategyLogs) -> StrategyLogs {
    let mut made = logs.clone();
    let spans: Vec<(usize, usize)> = made.trades.iter().map(|trade| planted.span(trade)).collect();
    for row in &mut made.bars {
        row.equity = INITIAL_CAPITAL;
        if row.signal == BarSignal::Add {
            row.signal = BarSignal::None;
        }
    }
    for (trade, (entry, exit)) in made.trades.iter_mut().zip(spans) {
        let own = planted
            .market
            .assets
            .iter()
            .find(|(symbol, _)| *symbol == trade.symbol);
        let closes = &own.unwrap().1.close;
        let side = match trade.side {
            TradeSide::Long => 1.0,
            TradeSide::Short => -1.0,
        };
        (trade.entry_price, trade.exit_price) = (closes[entry], closes[exit]);
        let earned = |bar: usize| side * trade.quantity * (closes[bar.min(exit)] - closes[entry]);
        trade.pnl = earned(exit);
        for (bar, row) in made.bars.iter_mut().enumerate().skip(entry) {
            row.equity += earned(bar);
        }
    }
    made
}

/// D4 has no score. How far the return of a deviation is from the reference's goes up with its size where it is the size of
/// holdings; every other kind changes which moves are earned, and those may as well be better ones.
#[test]
fn the_ladder_of_deviations_moves_the_returns_of_d4() {
    println!(
        "D4: distance from the reference's return by kind and size, seed {SEED}, long run: mean over documents at the own"
    );
    println!(
        "close, without costs, then at the next open at 10 bps; documents on which it grows at every step"
    );
    let benches = Bench::all();
    for kind in Deviation::ALL {
        for (fill, cost) in [(FillPrice::OwnClose, 0), (FillPrice::NextOpen, TEN_BPS)] {
            let mut rows = Vec::new();
            for bench in &benches {
                let planted = bench.planted(&bench.long);
                let right = bench.reference(&bench.long);
                let earned = |logs: &StrategyLogs| {
                    let earned =
                        RunEarnings::of_reference(&settled(planted, logs), &bench.long, INITIAL_CAPITAL);
                    earned.unwrap().at(fill)[cost].total_return
                };
                let own = earned(&right);
                let far = |size: f64| (earned(&planted.deviated(&right, kind, size)) - own).abs();
                rows.push(kind.sizes().map(far));
            }
            let grows = |row: &&[f64; 4]| row.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12);
            let grown = rows.iter().filter(grows).count();
            let means =
                [0, 1, 2, 3].map(|place| rows.iter().map(|row| row[place]).sum::<f64>() / count(rows.len()));
            println!(
                "| {kind:?} | {} | {means:.4?} | {grown} of {} |",
                fill.label(),
                rows.len()
            );
            if matches!(kind, Deviation::Larger | Deviation::Smaller) {
                assert_eq!(grown, rows.len(), "{kind:?}: {rows:?}");
            }
        }
    }
}
