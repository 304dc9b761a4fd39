//! S04: a thrust out of the range of the sessions before, closed at the session's end.

use super::recorder::{BarNote, Recorder};
use super::session::{SessionBar, Sessions};
use super::{ReferenceError, one_asset};
use crate::bars::StrategyBars;
use crate::book::{Book, Deed};
use crate::logs::{BarSignal, StrategyLogs};
use crate::parameters::Parameters;

/// The widest of highest high - lowest close and highest close - lowest low.
fn range_of(sessions: &[SessionBar]) -> f64 {
    let highest = |of: fn(&SessionBar) -> f64| sessions.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let lowest = |of: fn(&SessionBar) -> f64| sessions.iter().map(of).fold(f64::INFINITY, f64::min);
    let above = highest(|session| session.high) - lowest(|session| session.close);
    let below = highest(|session| session.close) - lowest(|session| session.low);
    above.max(below)
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let window = parameters.count("n_days")?;
    let (up, down) = (parameters.number("k_up")?, parameters.number("k_down")?);
    let session_end = parameters.text("session_end")?;
    let (symbol, bars) = one_asset(market)?;
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(1.0));
    let mut sessions = Sessions::default();
    let mut levels: Option<(f64, f64)> = None;
    let prices = bars.open.iter().zip(&bars.high).zip(&bars.low).zip(&bars.close);
    for (time, (((&open, &high), &low), &close)) in bars.times.iter().zip(prices) {
        if sessions.take(time, SessionBar { high, low, close }) {
            let range = sessions.last(window).map(range_of);
            levels = range.map(|range| (open + up * range, open - down * range));
        }
        let closes = [(symbol, close)];
        let held = book.quantity(symbol);
        let thrust = levels.and_then(|(upper, lower)| {
            if close > upper && held <= 0.0 {
                Some((1.0, "REVERSE_UP", "BREAK_UP", BarSignal::Long))
            } else if close < lower && held >= 0.0 {
                Some((-1.0, "REVERSE_DOWN", "BREAK_DOWN", BarSignal::Short))
            } else {
                None
            }
        });
        let signal = if time.clock() == session_end {
            let rule = "SESSION_END";
            book.close(symbol, close, Deed { time, rule });
            if held == 0.0 {
                BarSignal::None
            } else {
                BarSignal::Exit
            }
        } else if let Some((side, reverse, entry, signal)) = thrust {
            book.close(symbol, close, Deed { time, rule: reverse });
            let quantity = side * book.equity(&closes) / close;
            book.move_to(symbol, quantity, close, Deed { time, rule: entry });
            signal
        } else {
            BarSignal::None
        };
        let note = BarNote {
            time,
            close,
            signal,
            state: book.state(symbol),
            indicators: vec![levels.map(|(upper, _)| upper), levels.map(|(_, lower)| lower)],
        };
        recorder.note(&book, &closes, note);
    }
    Ok(recorder.finish(book))
}
