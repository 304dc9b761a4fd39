//! S05: breakouts and reversals at six levels of the session before, closed at the session's end.

use super::recorder::{BarNote, Recorder};
use super::session::{SessionBar, Sessions};
use super::{ReferenceError, one_asset};
use crate::bars::{BarTime, StrategyBars};
use crate::book::{Book, Deed};
use crate::logs::{BarSignal, StrategyLogs};
use crate::parameters::Parameters;

/// Levels made of the session before.
#[derive(Debug, Clone, Copy)]
struct PivotLevels {
    break_above: f64,
    setup_above: f64,
    enter_below: f64,
    enter_above: f64,
    setup_below: f64,
    break_below: f64,
}

impl PivotLevels {
    fn of(session: SessionBar) -> Self {
        let SessionBar { high, low, close } = session;
        let pivot = (high + low + close) / 3.0;
        Self {
            break_above: high + 2.0 * (pivot - low),
            setup_above: pivot + (high - low),
            enter_below: 2.0 * pivot - low,
            enter_above: 2.0 * pivot - high,
            setup_below: pivot - (high - low),
            break_below: low - 2.0 * (high - pivot),
        }
    }

    /// In the order of the document's columns.
    const fn columns(self) -> [f64; 6] {
        [
            self.break_above,
            self.setup_above,
            self.enter_below,
            self.enter_above,
            self.setup_below,
            self.break_below,
        ]
    }
}

/// An entry: its side, the rule that closes the other side first, its own rule.
struct PivotEntry {
    side: f64,
    reverse: &'static str,
    rule: &'static str,
}

/// The first entry whose rule holds.
fn entry_of(levels: PivotLevels, so_far: SessionBar, (close, held): (f64, f64)) -> Option<PivotEntry> {
    let entry = |side, reverse, rule| Some(PivotEntry { side, reverse, rule });
    if held >= 0.0 && so_far.high > levels.setup_above && close < levels.enter_below {
        entry(-1.0, "REVERSE_DOWN", "REVERSAL_DOWN")
    } else if held <= 0.0 && so_far.low < levels.setup_below && close > levels.enter_above {
        entry(1.0, "REVERSE_UP", "REVERSAL_UP")
    } else if held == 0.0 && close > levels.break_above {
        entry(1.0, "", "BREAKOUT_UP")
    } else if held == 0.0 && close < levels.break_below {
        entry(-1.0, "", "BREAKOUT_DOWN")
    } else {
        None
    }
}

/// The rule that closes the position on this bar, if there is one.
fn exit_of(book: &Book, (symbol, close): (&str, f64), is_end: bool, stop_loss: f64) -> Option<&'static str> {
    let entry = book.entry_price(symbol)?;
    let earned = book.quantity(symbol).signum() * (close / entry - 1.0);
    if is_end {
        Some("SESSION_END")
    } else {
        (earned <= -stop_loss).then_some("STOP_LOSS")
    }
}

/// What is done on a bar; an entry counts in `entries`.
fn act(
    book: &mut Book,
    (symbol, close): (&str, f64),
    time: &BarTime,
    exit: Option<&'static str>,
    (entry, entries): (Option<PivotEntry>, &mut usize),
) -> BarSignal {
    if let Some(rule) = exit {
        book.close(symbol, close, Deed { time, rule });
        return BarSignal::Exit;
    }
    let Some(entry) = entry else {
        return BarSignal::None;
    };
    let reverse = Deed {
        time,
        rule: entry.reverse,
    };
    book.close(symbol, close, reverse);
    let quantity = entry.side * book.equity(&[(symbol, close)]) / close;
    let deed = Deed {
        time,
        rule: entry.rule,
    };
    book.move_to(symbol, quantity, close, deed);
    *entries += 1;
    if entry.side > 0.0 {
        BarSignal::Long
    } else {
        BarSignal::Short
    }
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let stop_loss = parameters.number("stop_loss_pct")?;
    let max_entries = parameters.count("max_entries_per_day")?;
    let session_end = parameters.text("session_end")?;
    let (symbol, bars) = one_asset(market)?;
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(1.0));
    let (mut sessions, mut levels, mut entries) = (Sessions::default(), None, 0);
    for ((time, (&high, &low)), &close) in bars
        .times
        .iter()
        .zip(bars.high.iter().zip(&bars.low))
        .zip(&bars.close)
    {
        if sessions.take(time, SessionBar { high, low, close }) {
            entries = 0;
            levels = sessions.past.last().copied().map(PivotLevels::of).or(levels);
        }
        let is_end = time.clock() == session_end;
        let held = book.quantity(symbol);
        let exit = exit_of(&book, (symbol, close), is_end, stop_loss);
        let entry = (!is_end && entries < max_entries)
            .then(|| entry_of(levels?, sessions.so_far()?, (close, held)))
            .flatten();
        let signal = act(&mut book, (symbol, close), time, exit, (entry, &mut entries));
        let columns = levels.map(PivotLevels::columns);
        let note = BarNote {
            time,
            close,
            signal,
            state: book.state(symbol),
            indicators: (0..6).map(|place| columns?.get(place).copied()).collect(),
        };
        recorder.note(&book, &[(symbol, close)], note);
    }
    Ok(recorder.finish(book))
}
