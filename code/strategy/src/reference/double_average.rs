//! S02: long after the short mean has crossed above the long one, short after it has crossed below.

use super::recorder::{BarNote, Recorder};
use super::{ReferenceError, one_asset};
use crate::bars::StrategyBars;
use crate::book::{Book, Deed};
use crate::indicators::{before, rolling_mean};
use crate::logs::{BarSignal, StrategyLogs};
use crate::parameters::Parameters;

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let (symbol, bars) = one_asset(market)?;
    let short = rolling_mean(&bars.close, parameters.count("N_short")?);
    let long = rolling_mean(&bars.close, parameters.count("N_long")?);
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(1.0));
    for (bar, (time, &close)) in bars.times.iter().zip(&bars.close).enumerate() {
        let closes = [(symbol, close)];
        let (short_now, long_now) = (
            short.get(bar).copied().flatten(),
            long.get(bar).copied().flatten(),
        );
        let cross = || {
            let (short_before, long_before) = (before(&short, bar)?, before(&long, bar)?);
            let (short, long) = (short_now?, long_now?);
            if short > long && short_before <= long_before {
                Some(("GOLDEN_CROSS", 1.0, BarSignal::Long))
            } else if short < long && short_before >= long_before {
                Some(("DEATH_CROSS", -1.0, BarSignal::Short))
            } else {
                None
            }
        };
        let signal = match cross() {
            Some((rule, side, signal)) if side * book.quantity(symbol) <= 0.0 => {
                let deed = Deed { time, rule };
                book.close(symbol, close, deed);
                let quantity = side * book.equity(&closes) / close;
                book.move_to(symbol, quantity, close, deed);
                signal
            }
            Some(_) | None => BarSignal::None,
        };
        let note = BarNote {
            time,
            close,
            signal,
            state: book.state(symbol),
            indicators: vec![short_now, long_now],
        };
        recorder.note(&book, &closes, note);
    }
    Ok(recorder.finish(book))
}
