//! S10: exposure scaled to a target volatility.

use super::recorder::{BarNote, Recorder};
use super::{ReferenceError, one_asset};
use crate::bars::StrategyBars;
use crate::book::{Book, Deed};
use crate::indicators::rolling_deviation;
use crate::logs::{BarSignal, StrategyLogs};
use crate::parameters::Parameters;

/// Sessions a year, for annual volatility.
const SESSIONS_A_YEAR: f64 = 252.0;
/// A volatility that counts as none.
const NO_VOLATILITY: f64 = 1e-12;

/// Annual volatility of daily returns over a window, missing on the first bar and before the window is full.
fn volatilities(closes: &[f64], window: usize) -> Vec<Option<f64>> {
    let returns: Vec<f64> = closes
        .windows(2)
        .filter_map(|pair| Some(pair.get(1)? / pair.first()? - 1.0))
        .collect();
    let annual = rolling_deviation(&returns, window)
        .into_iter()
        .map(|deviation| Some(deviation? * SESSIONS_A_YEAR.sqrt()));
    std::iter::once(None).chain(annual).take(closes.len()).collect()
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let target = parameters.number("target_vol")?;
    let max_weight = parameters.number("max_weight")?;
    let band = parameters.number("band")?;
    let (symbol, bars) = one_asset(market)?;
    let volatility = volatilities(&bars.close, parameters.count("vol_window")?);
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(max_weight));
    for ((time, &close), volatility) in bars.times.iter().zip(&bars.close).zip(volatility) {
        let closes = [(symbol, close)];
        let equity = book.equity(&closes);
        let current = book.quantity(symbol) * close / equity;
        let weight = volatility.map(|volatility| {
            if volatility <= NO_VOLATILITY {
                max_weight
            } else {
                max_weight.min(target / volatility)
            }
        });
        let change = weight.and_then(|weight| {
            if book.is_flat() {
                Some((weight, "INITIAL", BarSignal::Long))
            } else if (weight - current).abs() > band {
                let rule = if weight > current { "RAISE" } else { "CUT" };
                Some((weight, rule, BarSignal::Rebalance))
            } else {
                None
            }
        });
        let signal = change.map_or(BarSignal::None, |(weight, rule, signal)| {
            book.move_to(symbol, weight * equity / close, close, Deed { time, rule });
            signal
        });
        let note = BarNote {
            time,
            close,
            signal,
            state: book.state(symbol),
            indicators: vec![volatility, weight],
        };
        recorder.note(&book, &closes, note);
    }
    Ok(recorder.finish(book))
}
