//! S01: bought below the lower band, sold at the middle one or at a stop.

use super::recorder::{BarNote, Recorder};
use super::{ReferenceError, one_asset};
use crate::bars::StrategyBars;
use crate::book::{Book, Deed};
use crate::indicators::{before, rolling_deviation, rolling_mean};
use crate::logs::{BarSignal, StrategyLogs};
use crate::parameters::Parameters;

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let (window, width) = (parameters.count("N")?, parameters.number("k")?);
    let stop_loss = parameters.number("stop_loss_pct")?;
    let (symbol, bars) = one_asset(market)?;
    let middle = rolling_mean(&bars.close, window);
    let deviation = rolling_deviation(&bars.close, window);
    let band = |sign: f64| -> Vec<Option<f64>> {
        middle
            .iter()
            .zip(&deviation)
            .map(|(middle, deviation)| Some((*middle)? + sign * width * (*deviation)?))
            .collect()
    };
    let (lower, upper) = (band(-1.0), band(1.0));
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(1.0));
    let mut close_before = None;
    for (bar, ((time, &close), &middle)) in bars.times.iter().zip(&bars.close).zip(&middle).enumerate() {
        let closes = [(symbol, close)];
        let lower_now = lower.get(bar).copied().flatten();
        let deed = |rule| Deed { time, rule };
        let signal = if let Some(entry) = book.entry_price(symbol) {
            let rule = if close <= entry * (1.0 - stop_loss) {
                Some("STOP_LOSS")
            } else if middle.is_some_and(|middle| close >= middle) {
                Some("MIDDLE_BAND")
            } else {
                None
            };
            rule.map_or(BarSignal::None, |rule| {
                book.close(symbol, close, deed(rule));
                BarSignal::Exit
            })
        } else if lower_now.is_some_and(|lower| close < lower)
            && close_before
                .zip(before(&lower, bar))
                .is_some_and(|(close, lower)| close >= lower)
        {
            let quantity = book.equity(&closes) / close;
            book.move_to(symbol, quantity, close, deed("LOWER_CROSS"));
            BarSignal::Long
        } else {
            BarSignal::None
        };
        let note = BarNote {
            time,
            close,
            signal,
            state: book.state(symbol),
            indicators: vec![middle, upper.get(bar).copied().flatten(), lower_now],
        };
        recorder.note(&book, &closes, note);
        close_before = Some(close);
    }
    Ok(recorder.finish(book))
}
