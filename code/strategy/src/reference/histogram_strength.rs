//! S12: crosses of a histogram of exponential means, confirmed by relative strength.

use super::recorder::{BarNote, Recorder};
use super::{ReferenceError, one_asset};
use crate::bars::StrategyBars;
use crate::book::{Book, Deed};
use crate::indicators::{count, exponential_mean};
use crate::logs::{BarSignal, PositionState, StrategyLogs};
use crate::parameters::Parameters;

/// Relative strength where there is no change yet, or none at all.
const NO_CHANGE: f64 = 50.0;

/// Weight of the newest value in an exponential mean over a span.
fn weight_of(span: usize) -> f64 {
    2.0 / (count(span) + 1.0)
}

/// 100 x smoothed gain over smoothed absolute change.
fn relative_strength(closes: &[f64], span: usize) -> Vec<f64> {
    let changes: Vec<f64> = closes
        .windows(2)
        .filter_map(|pair| Some(pair.get(1)? - pair.first()?))
        .collect();
    let weight = 1.0 / count(span);
    let smoothed = |of: fn(f64) -> f64| {
        let values: Vec<f64> = changes.iter().map(|change| of(*change)).collect();
        exponential_mean(&values, weight)
    };
    let gains = smoothed(|change| change.max(0.0));
    let strength = gains.into_iter().zip(smoothed(f64::abs)).map(|(gain, moved)| {
        if moved > 0.0 {
            100.0 * gain / moved
        } else {
            NO_CHANGE
        }
    });
    std::iter::once(NO_CHANGE)
        .chain(strength)
        .take(closes.len())
        .collect()
}

/// The figures of a bar, and the histogram of the one before.
#[derive(Debug, Clone, Copy)]
struct Figures {
    strength: f64,
    histogram: f64,
    earlier: Option<f64>,
}

struct StrengthRules {
    middle: f64,
    high: f64,
    low: f64,
}

impl StrengthRules {
    fn exit(&self, state: PositionState, seen: Figures) -> Option<&'static str> {
        match state {
            PositionState::Long if seen.strength >= self.high => Some("RSI_HIGH"),
            PositionState::Long => (seen.histogram < 0.0).then_some("HIST_DOWN"),
            PositionState::Short if seen.strength <= self.low => Some("RSI_LOW"),
            PositionState::Short => (seen.histogram > 0.0).then_some("HIST_UP"),
            PositionState::Flat => None,
        }
    }

    fn entry(&self, seen: Figures) -> Option<(f64, &'static str, BarSignal)> {
        let earlier = seen.earlier?;
        if seen.histogram > 0.0 && earlier <= 0.0 && seen.strength >= self.middle {
            Some((1.0, "CROSS_UP", BarSignal::Long))
        } else if seen.histogram < 0.0 && earlier >= 0.0 && seen.strength <= self.middle {
            Some((-1.0, "CROSS_DOWN", BarSignal::Short))
        } else {
            None
        }
    }
}

fn difference(first: &[f64], second: &[f64]) -> Vec<f64> {
    first
        .iter()
        .zip(second)
        .map(|(first, second)| first - second)
        .collect()
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let (slow, smooth) = (parameters.count("slow")?, parameters.count("smooth")?);
    let rules = StrengthRules {
        middle: parameters.number("rsi_mid")?,
        high: parameters.number("rsi_high")?,
        low: parameters.number("rsi_low")?,
    };
    let (symbol, bars) = one_asset(market)?;
    let average = |values: &[f64], span| exponential_mean(values, weight_of(span));
    let convergence = difference(
        &average(&bars.close, parameters.count("fast")?),
        &average(&bars.close, slow),
    );
    let histogram = difference(&convergence, &average(&convergence, smooth));
    let strength = relative_strength(&bars.close, parameters.count("rsi_n")?);
    let first_bar = slow + smooth - 1;
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(1.0));
    let mut earlier = None;
    let figures = strength.iter().zip(&histogram).zip(&convergence);
    for (bar, ((time, &close), ((&strength, &histogram), &convergence))) in
        bars.times.iter().zip(&bars.close).zip(figures).enumerate()
    {
        let closes = [(symbol, close)];
        let state = book.state(symbol);
        let seen = Figures {
            strength,
            histogram,
            earlier,
        };
        let entry = rules
            .entry(seen)
            .filter(|_| state == PositionState::Flat && bar >= first_bar);
        let signal = if let Some(rule) = rules.exit(state, seen) {
            book.close(symbol, close, Deed { time, rule });
            BarSignal::Exit
        } else if let Some((side, rule, signal)) = entry {
            let quantity = side * book.equity(&closes) / close;
            book.move_to(symbol, quantity, close, Deed { time, rule });
            signal
        } else {
            BarSignal::None
        };
        let note = BarNote {
            time,
            close,
            signal,
            state: book.state(symbol),
            indicators: [strength, convergence, histogram].map(Some).to_vec(),
        };
        recorder.note(&book, &closes, note);
        earlier = Some(histogram);
    }
    Ok(recorder.finish(book))
}
