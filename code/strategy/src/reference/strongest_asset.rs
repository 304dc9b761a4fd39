//! S09: the asset that rose most, or cash.

use super::ReferenceError;
use super::index_tilt::long_or_flat;
use super::recorder::{BarNote, Recorder};
use crate::bars::StrategyBars;
use crate::book::{Book, Closes, Deed};
use crate::logs::{BarSignal, StrategyLogs};
use crate::parameters::Parameters;

/// What the log says when nothing is held.
const CASH: &str = "CASH";

/// The first of the assets that rose most over the window, if that is above 0.
fn strongest<'a>(market: &'a StrategyBars, bar: usize, window: usize) -> Option<&'a str> {
    let start = bar.checked_sub(window)?;
    let mut best: Option<(&'a str, f64)> = None;
    for (symbol, bars) in &market.assets {
        let momentum = bars.close.get(bar)? / bars.close.get(start)? - 1.0;
        if best.is_none_or(|(_, known)| momentum > known) {
            best = Some((symbol, momentum));
        }
    }
    best.filter(|(_, momentum)| *momentum > 0.0)
        .map(|(symbol, _)| symbol)
}

/// Moves everything into the choice.
fn choose(
    book: &mut Book,
    closes: &Closes<'_>,
    time: &crate::bars::BarTime,
    choice: Option<&str>,
) -> BarSignal {
    let held = book.first_held().map(str::to_owned);
    if held.as_deref() == choice {
        return BarSignal::None;
    }
    let rule = match (&held, choice) {
        (_, None) => "TO_CASH",
        (Some(_), Some(_)) => "SWITCH",
        (None, Some(_)) => "ENTER",
    };
    let deed = Deed { time, rule };
    let price = |wanted: &str| {
        closes
            .iter()
            .find(|(symbol, _)| *symbol == wanted)
            .map(|(_, close)| *close)
    };
    if let Some((symbol, price)) = held.as_deref().and_then(|symbol| Some((symbol, price(symbol)?))) {
        book.close(symbol, price, deed);
    }
    if let Some((symbol, price)) = choice.and_then(|symbol| Some((symbol, price(symbol)?))) {
        let quantity = book.equity(closes) / price;
        book.move_to(symbol, quantity, price, deed);
    }
    if choice.is_none() {
        BarSignal::Exit
    } else {
        BarSignal::Long
    }
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let window = parameters.count("L")?;
    let every = parameters.count("rebalance_every")?;
    let (_, first) = market
        .assets
        .first()
        .ok_or(ReferenceError::Asset("the strategy trades several"))?;
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(1.0));
    for (bar, (time, &close)) in first.times.iter().zip(&first.close).enumerate() {
        let closes: Vec<(&str, f64)> = market
            .assets
            .iter()
            .filter_map(|(symbol, bars)| Some((symbol.as_str(), *bars.close.get(bar)?)))
            .collect();
        let is_due = bar.checked_sub(window).is_some_and(|since| since % every == 0);
        let signal = if is_due {
            choose(&mut book, &closes, time, strongest(market, bar, window))
        } else {
            BarSignal::None
        };
        let note = BarNote {
            time,
            close,
            signal,
            state: long_or_flat(&book),
            indicators: Vec::new(),
        };
        let holding = book.first_held().unwrap_or(CASH).to_owned();
        recorder.note_holding(&book, &closes, note, &holding);
    }
    Ok(recorder.finish(book))
}
