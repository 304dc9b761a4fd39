//! S03: entered beyond a channel of extremes, added to by half a range, stopped at two.

use super::recorder::{BarNote, Recorder};
use super::{ReferenceError, one_asset};
use crate::bars::{AssetBars, BarTime, StrategyBars};
use crate::book::{Book, Deed};
use crate::indicators::{before, count, rolling_highest, rolling_lowest, rolling_mean};
use crate::logs::{BarSignal, PositionState, StrategyLogs};
use crate::parameters::Parameters;

/// Leverage of the document: units fixed at the entry may have grown.
const MAX_LEVERAGE: f64 = 1.1;

/// The document's parameters.
struct Rules {
    entry_window: usize,
    exit_window: usize,
    range_window: usize,
    add_step: f64,
    stop_multiple: f64,
    max_units: usize,
    risk_fraction: f64,
}

impl Rules {
    fn of(parameters: &Parameters) -> Result<Self, &'static str> {
        Ok(Self {
            entry_window: parameters.count("L_entry")?,
            exit_window: parameters.count("L_exit")?,
            range_window: parameters.count("L_atr")?,
            add_step: parameters.number("add_step")?,
            stop_multiple: parameters.number("stop_mult")?,
            max_units: parameters.count("max_units")?,
            risk_fraction: parameters.number("risk_fraction")?,
        })
    }
}

/// An open position.
#[derive(Debug, Clone, Copy)]
struct Units {
    /// 1 for long, -1 for short.
    side: f64,
    held: usize,
    /// Quantity of one unit.
    size: f64,
    last_fill: f64,
    /// Range of the entry bar.
    range: f64,
    stop_level: f64,
}

/// What a bar shows.
struct Channel {
    entry_high: Option<f64>,
    entry_low: Option<f64>,
    exit_high: Option<f64>,
    exit_low: Option<f64>,
    range: Option<f64>,
}

fn true_ranges(bars: &AssetBars) -> Vec<f64> {
    let mut close_before: Option<f64> = None;
    bars.high
        .iter()
        .zip(&bars.low)
        .zip(&bars.close)
        .map(|((high, low), close)| {
            let gaps = close_before.map_or(0.0, |before| (high - before).abs().max((low - before).abs()));
            close_before = Some(*close);
            (high - low).max(gaps)
        })
        .collect()
}

/// Channels of every bar: extremes of the bars before it, the range with it.
fn channels(bars: &AssetBars, rules: &Rules) -> Vec<Channel> {
    let highest = |window| rolling_highest(&bars.high, window);
    let lowest = |window| rolling_lowest(&bars.low, window);
    let (entry_high, entry_low) = (highest(rules.entry_window), lowest(rules.entry_window));
    let (exit_high, exit_low) = (highest(rules.exit_window), lowest(rules.exit_window));
    rolling_mean(&true_ranges(bars), rules.range_window)
        .into_iter()
        .enumerate()
        .map(|(bar, range)| Channel {
            entry_high: before(&entry_high, bar),
            entry_low: before(&entry_low, bar),
            exit_high: before(&exit_high, bar),
            exit_low: before(&exit_low, bar),
            range,
        })
        .collect()
}

/// What happens in a position; whether it is still open afterwards stands in `units`.
fn manage(
    book: &mut Book,
    (symbol, close): (&str, f64),
    time: &BarTime,
    channel: &Channel,
    (rules, units): (&Rules, &mut Option<Units>),
) -> BarSignal {
    let Some(open) = *units else {
        return BarSignal::None;
    };
    let leaves = if open.side > 0.0 {
        channel.exit_low.is_some_and(|low| close < low)
    } else {
        channel.exit_high.is_some_and(|high| close > high)
    };
    let exit = if open.side * (close - open.stop_level) <= 0.0 {
        Some("STOP_LOSS")
    } else if leaves {
        Some("CHANNEL_EXIT")
    } else {
        None
    };
    if let Some(rule) = exit {
        book.close(symbol, close, Deed { time, rule });
        *units = None;
        return BarSignal::Exit;
    }
    let moved = open.side * (close - open.last_fill);
    if open.held < rules.max_units && moved >= rules.add_step * open.range {
        book.add(symbol, open.side * open.size, close);
        *units = Some(Units {
            held: open.held + 1,
            last_fill: close,
            stop_level: close - open.side * rules.stop_multiple * open.range,
            ..open
        });
        return BarSignal::Add;
    }
    BarSignal::None
}

/// The entry of a bar, if there is one.
fn enter(
    book: &mut Book,
    (symbol, close): (&str, f64),
    time: &BarTime,
    channel: &Channel,
    rules: &Rules,
) -> Option<Units> {
    let range = channel.range.filter(|range| *range > 0.0)?;
    let (side, rule) = if close > channel.entry_high? {
        (1.0, "BREAKOUT_UP")
    } else if close < channel.entry_low? {
        (-1.0, "BREAKOUT_DOWN")
    } else {
        return None;
    };
    let equity = book.equity(&[(symbol, close)]);
    let size = (rules.risk_fraction * equity / range).min(equity / (count(rules.max_units) * close));
    book.move_to(symbol, side * size, close, Deed { time, rule });
    Some(Units {
        side,
        held: 1,
        size,
        last_fill: close,
        range,
        stop_level: close - side * rules.stop_multiple * range,
    })
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let rules = Rules::of(parameters)?;
    let (symbol, bars) = one_asset(market)?;
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(MAX_LEVERAGE));
    let mut units: Option<Units> = None;
    for ((time, &close), channel) in bars.times.iter().zip(&bars.close).zip(channels(bars, &rules)) {
        let signal = if units.is_some() {
            manage(&mut book, (symbol, close), time, &channel, (&rules, &mut units))
        } else {
            units = enter(&mut book, (symbol, close), time, &channel, &rules);
            match book.state(symbol) {
                PositionState::Long => BarSignal::Long,
                PositionState::Short => BarSignal::Short,
                PositionState::Flat => BarSignal::None,
            }
        };
        let note = BarNote {
            time,
            close,
            signal,
            state: book.state(symbol),
            indicators: vec![
                channel.entry_high,
                channel.entry_low,
                channel.exit_high,
                channel.exit_low,
                channel.range,
                Some(units.map_or(0.0, |units| count(units.held))),
                units.map(|units| units.stop_level),
            ],
        };
        recorder.note(&book, &[(symbol, close)], note);
    }
    Ok(recorder.finish(book))
}
