//! Whether a logged equity is that of the logged trades at the closes of the market.

use crate::bars::{AssetBars, BarTime, StrategyBars};
use crate::candidate::CandidateLogs;
use crate::earnings::ParsedLogs;
use crate::indicators::count;
use crate::logs::{PositionState, TradeRow, TradeSide};
use crate::trade_hash::is_close;

/// How far an equity may lie from the accounted one, times the equity.
const TOLERANCE: f64 = 1e-6;

/// The first place where the equity of a log of bars is not what its trades make it; `None` where all of it is accounted for.
/// The log of bars has one row a bar of the market, in order.
///
/// Accounted is capital, the profit of closed trades, and the open ones at the closes of each bar, every fill at the close of
/// its bar. A holding that is never closed has no row in the log of trades: from where it first shows on, the equity may
/// change beyond the accounted one by the logged exposure of the bar before times the move of the price, and that holding
/// may neither shrink nor change its side. Of several assets no log says which is held: the largest move of them is the bound.
#[must_use]
pub fn unaccounted_equity(logs: &CandidateLogs, market: &StrategyBars, capital: f64) -> Option<String> {
    checked(logs, market, capital).err()
}

fn checked(logs: &CandidateLogs, market: &StrategyBars, capital: f64) -> Result<(), String> {
    let parsed = ParsedLogs::of(logs)?;
    let mut fills = Vec::new();
    for (row, trade) in parsed.trades.iter().enumerate() {
        let own = fills_of(trade, market, &parsed.adds);
        fills.extend(own.map_err(|problem| format!("trade {}: {problem}", row + 1))?);
    }
    fills.sort_by_key(|fill| fill.bar);
    let mut fills = fills.into_iter().peekable();
    let mut account = Account::new(capital, market.assets.len());
    let mut before: Option<OpenHolding> = None;
    let mut is_open = false;
    for (bar, (time, equity)) in parsed.curve.iter().enumerate() {
        while let Some(fill) = fills.next_if(|fill| fill.bar == bar) {
            account.take(&fill);
        }
        let (accounted, gross) = account.at(market, bar);
        let tolerance = TOLERANCE * equity.abs().max(capital);
        let beyond = equity - accounted;
        is_open = is_open || beyond.abs() > tolerance || !beyond.is_finite();
        let held = OpenHolding {
            beyond,
            gross: logs
                .bars
                .number("exposure", bar)
                .map(|exposure| (exposure * equity - gross).max(0.0)),
            side: side_of(logs.bars.text("position_state", bar)),
        };
        if is_open {
            let follows = before.is_some_and(|before| held.follows(before, (market, bar), tolerance));
            if !follows {
                return Err(format!(
                    "the equity at {time} is {equity}, and the logged trades make it {accounted}"
                ));
            }
        }
        before = Some(held);
    }
    Ok(())
}

/// One change of a holding, at the close of a bar.
struct Fill {
    bar: usize,
    asset: usize,
    /// Signed: positive where it is bought.
    quantity: f64,
    price: f64,
    /// Whether it ends a holding.
    closes: bool,
}

/// Cash and holdings of all logged trades.
struct Account {
    cash: f64,
    /// Net and gross quantity of each asset.
    held: Vec<(f64, f64)>,
}

impl Account {
    fn new(capital: f64, assets: usize) -> Self {
        Self {
            cash: capital,
            held: vec![(0.0, 0.0); assets],
        }
    }

    fn take(&mut self, fill: &Fill) {
        self.cash -= fill.quantity * fill.price;
        if let Some((net, gross)) = self.held.get_mut(fill.asset) {
            *net += fill.quantity;
            *gross += if fill.closes {
                -fill.quantity.abs()
            } else {
                fill.quantity.abs()
            };
        }
    }

    /// Equity and gross value at the closes of a bar.
    fn at(&self, market: &StrategyBars, bar: usize) -> (f64, f64) {
        let mut sums = (self.cash, 0.0);
        for ((net, gross), (_, bars)) in self.held.iter().zip(&market.assets) {
            // What is not held has no value, whatever its price.
            if net.abs() > 0.0 || *gross > 0.0 {
                let close = bars.close.get(bar).copied().unwrap_or(f64::NAN);
                sums.0 += net * close;
                sums.1 += gross * close;
            }
        }
        sums
    }
}

/// What a bar's row says beyond the logged trades: of holdings that are never closed.
#[derive(Clone, Copy)]
struct OpenHolding {
    /// Equity beyond the accounted one.
    beyond: f64,
    /// Value beyond that of logged trades; none where no exposure is logged.
    gross: Option<f64>,
    side: f64,
}

impl OpenHolding {
    /// Whether a holding of the bar before that is still open makes this of the equity.
    fn follows(self, before: Self, (market, bar): (&StrategyBars, usize), tolerance: f64) -> bool {
        let (Some(was), Some(is)) = (before.gross, self.gross) else {
            return false;
        };
        let moves = market.assets.iter().map(|(_, bars)| {
            let close = |bar: usize| bars.close.get(bar).copied();
            let last = bar.checked_sub(1).and_then(close);
            last.zip(close(bar))
                .map_or(f64::NAN, |(last, now)| now / last - 1.0)
        });
        let moves: Vec<f64> = moves.collect();
        let change = self.beyond - before.beyond;
        let least = moves.iter().copied().fold(f64::INFINITY, f64::min);
        // What is still held is worth at least what the asset that fell most makes of it.
        let shrinks = is + tolerance < was * (1.0 + least);
        if shrinks || !change.is_finite() {
            return false;
        }
        match moves.as_slice() {
            [only] => {
                let keeps_side = is <= tolerance || before.side * self.side > 0.0;
                keeps_side && (change - before.side * was * only).abs() <= tolerance
            }
            all => {
                let most = all.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
                change.abs() <= was * most + tolerance
            }
        }
    }
}

fn side_of(state: Option<&str>) -> f64 {
    if state == Some(PositionState::Long.label()) {
        1.0
    } else if state == Some(PositionState::Short.label()) {
        -1.0
    } else {
        0.0
    }
}

/// The fills of a trade at the closes of their bars, where its row agrees with those; units that were added are of one size.
fn fills_of(trade: &TradeRow, market: &StrategyBars, adds: &[BarTime]) -> Result<Vec<Fill>, String> {
    let named = |(_, (symbol, _)): &(usize, &(String, AssetBars))| *symbol == trade.symbol;
    let (asset, (_, bars)) = market
        .assets
        .iter()
        .enumerate()
        .find(named)
        .ok_or_else(|| format!("the symbol {:?} is not traded", trade.symbol))?;
    let at = |time: &BarTime| {
        let bar = bars.times.binary_search(time).ok();
        bar.and_then(|bar| Some((bar, *bars.close.get(bar)?)))
            .ok_or_else(|| format!("{time} is not a bar"))
    };
    if trade.exit_time < trade.entry_time || trade.quantity <= 0.0 {
        return Err("it exits before it enters, or its quantity is not positive".to_owned());
    }
    let direction = match trade.side {
        TradeSide::Long => 1.0,
        TradeSide::Short => -1.0,
    };
    let first = adds.partition_point(|time| *time <= trade.entry_time);
    let end = adds.partition_point(|time| *time < trade.exit_time);
    let life = adds.get(first..end.max(first)).unwrap_or_default();
    let units = count(life.len() + 1);
    let mut fills = Vec::new();
    for time in std::iter::once(&trade.entry_time).chain(life) {
        let (bar, price) = at(time)?;
        fills.push(Fill {
            bar,
            asset,
            quantity: direction * trade.quantity / units,
            price,
            closes: false,
        });
    }
    let entry = fills.iter().map(|fill| fill.price).sum::<f64>() / units;
    let (bar, exit) = at(&trade.exit_time)?;
    if !is_close(entry, trade.entry_price) || !is_close(exit, trade.exit_price) {
        return Err("its prices are not the closes of its bars".to_owned());
    }
    if !is_close(trade.pnl, direction * trade.quantity * (exit - entry)) {
        return Err("its profit is not quantity times the move".to_owned());
    }
    fills.push(Fill {
        bar,
        asset,
        quantity: -direction * trade.quantity,
        price: exit,
        closes: true,
    });
    Ok(fills)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::INITIAL_CAPITAL;
    use crate::document::StrategyDocument;
    use crate::logs::{BarSignal, StrategyLogs};
    use crate::reference::{DocumentId, run_reference};
    use crate::scenario::scenarios;

    /// The markets of a document's scenarios with the logs of its reference.
    fn runs(id: DocumentId) -> (StrategyDocument, Vec<(StrategyBars, StrategyLogs)>) {
        let document = StrategyDocument::built_in(id).unwrap();
        let parameters = document.default_parameters();
        let drawn = scenarios(id, &parameters, 7).unwrap().into_iter();
        let runs = drawn.map(|scenario| {
            let logs = run_reference(id, &parameters, &scenario.market, INITIAL_CAPITAL).unwrap();
            (scenario.market, logs)
        });
        let runs = runs.collect();
        (document, runs)
    }

    /// What is not accounted for in the logs of a reference.
    fn problem(
        document: &StrategyDocument,
        (market, logs): (&StrategyBars, &StrategyLogs),
    ) -> Option<String> {
        let logs = CandidateLogs::of_reference(logs, &document.columns);
        unaccounted_equity(&logs, market, INITIAL_CAPITAL)
    }

    #[test]
    fn every_reference_is_accounted_for_also_where_a_holding_stays_open() {
        for id in DocumentId::ALL {
            let (document, runs) = runs(id);
            let parameters = document.default_parameters();
            let mut open = 0;
            for (market, logs) in &runs {
                assert_eq!(problem(&document, (market, logs)), None, "{id}");
                // Cut where something is held, and before it is closed.
                let held = logs.bars.iter().enumerate().skip(1);
                let held = held.filter(|(_, row)| row.exposure > 0.0).map(|(bar, _)| bar + 1);
                for bars in held.step_by(37) {
                    let short = market.prefix(bars);
                    let logs = run_reference(id, &parameters, &short, INITIAL_CAPITAL).unwrap();
                    assert_eq!(problem(&document, (&short, &logs)), None, "{id} {bars}");
                    open += usize::from(logs.bars.last().unwrap().exposure > 0.0);
                }
            }
            assert!(open > 0, "{id}");
        }
    }

    #[test]
    fn an_equity_without_trades_is_not_accounted_for() {
        for id in [DocumentId::S01, DocumentId::S04, DocumentId::S06] {
            let (document, runs) = runs(id);
            let (market, logs) = &runs[0];
            let mut made_up = logs.clone();
            made_up.trades.clear();
            for (bar, row) in made_up.bars.iter_mut().enumerate() {
                row.equity = INITIAL_CAPITAL * (1.0 + 0.001 * count(bar));
                row.exposure = 0.0;
                row.state = PositionState::Flat;
                row.signal = BarSignal::None;
            }
            let found = problem(&document, (market, &made_up)).unwrap();
            assert!(found.contains("the logged trades make it"), "{id}: {found}");
            // Nor with an exposure that would not make it.
            for row in &mut made_up.bars {
                row.exposure = 1e-3;
                row.state = PositionState::Long;
            }
            assert!(problem(&document, (market, &made_up)).is_some(), "{id}");
        }
    }

    #[test]
    fn a_changed_log_is_found() {
        let (document, runs) = runs(DocumentId::S01);
        let traded = runs.iter().find(|(_, logs)| logs.trades.len() > 1).unwrap();
        let (market, logs) = traded;
        let changed = |change: &dyn Fn(&mut StrategyLogs)| {
            let mut logs = logs.clone();
            change(&mut logs);
            problem(&document, (market, &logs)).unwrap()
        };
        let late = changed(&|logs| logs.bars.last_mut().unwrap().equity *= 1.00001);
        assert!(late.contains("the logged trades make it"), "{late}");
        let dropped = changed(&|logs| drop(logs.trades.remove(0)));
        assert!(dropped.contains("the logged trades make it"), "{dropped}");
        let unknown = changed(&|logs| logs.trades[0].symbol.push('?'));
        assert!(unknown.contains("is not traded"), "{unknown}");
        let price = changed(&|logs| logs.trades[1].exit_price *= 1.01);
        assert!(
            price.contains("trade 2: its prices are not the closes"),
            "{price}"
        );
        let profit = changed(&|logs| logs.trades[0].pnl += 1.0);
        assert!(profit.contains("its profit is not quantity times"), "{profit}");
    }

    #[test]
    fn a_holding_that_stays_open_may_not_change_its_side() {
        // One that is long before every rise and short before every fall, and logs no trade.
        let close = [10.0, 11.0, 10.0, 11.0, 10.0, 11.0];
        let time = |day: usize| BarTime::parse(&format!("2021-01-{:02}T00:00:00", day + 1)).unwrap();
        let bars = AssetBars {
            times: (0..close.len()).map(time).collect(),
            close: close.to_vec(),
            ..AssetBars::default()
        };
        let market = StrategyBars {
            assets: vec![("A".to_owned(), bars)],
        };
        let mut equity = INITIAL_CAPITAL;
        let rows = (0..close.len()).map(|bar| {
            if bar > 0 {
                equity *= 1.0 + (close[bar] / close[bar - 1] - 1.0).abs();
            }
            crate::logs::AuditRow {
                time: time(bar),
                close: close[bar],
                signal: BarSignal::None,
                state: if bar % 2 == 0 {
                    PositionState::Long
                } else {
                    PositionState::Short
                },
                exposure: 1.0,
                equity,
                is_within_leverage: true,
                indicators: Vec::new(),
                holding: None,
            }
        });
        let made_up = StrategyLogs {
            trades: Vec::new(),
            bars: rows.collect(),
        };
        let logs = CandidateLogs::of_reference(&made_up, &[]);
        let found = unaccounted_equity(&logs, &market, INITIAL_CAPITAL).unwrap();
        assert!(found.contains("2021-01-02"), "{found}");
    }
}
