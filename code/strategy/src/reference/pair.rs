//! What the three strategies on two assets share: the legs, their entry and their exit.

use super::ReferenceError;
use super::recorder::{BarNote, Recorder};
use crate::bars::{AssetBars, BarTime, StrategyBars};
use crate::book::{Book, Closes, Deed};
use crate::indicators::{rolling_deviation, rolling_mean};
use crate::logs::{BarSignal, StrategyLogs};

/// The first and the second leg.
pub(super) struct Legs<'a> {
    pub(super) first: (&'a str, &'a AssetBars),
    pub(super) second: (&'a str, &'a AssetBars),
}

impl<'a> Legs<'a> {
    pub(super) fn of(market: &'a StrategyBars) -> Result<Self, ReferenceError> {
        match market.assets.as_slice() {
            [(first, first_bars), (second, second_bars)] => Ok(Self {
                first: (first, first_bars),
                second: (second, second_bars),
            }),
            _ => Err(ReferenceError::Asset("the strategy trades exactly two")),
        }
    }
}

/// A pair to open: long the first leg for a positive side, the other way for a negative one.
pub(super) struct PairEntry {
    pub(super) side: f64,
    pub(super) rule: &'static str,
    /// Quantities of the legs, positive.
    pub(super) quantities: (f64, f64),
}

/// A bar in a pair's eyes.
pub(super) struct PairBar {
    pub(super) bar: usize,
    pub(super) closes: (f64, f64),
    /// Equity before anything is done.
    pub(super) equity: f64,
    /// 1, -1, or 0 when nothing is held.
    pub(super) side: f64,
    /// Bars since the entry, 1 on the one after it.
    pub(super) held_bars: usize,
}

/// A strategy on two assets.
pub(super) trait PairRules {
    /// The rule that closes the pair.
    fn exit(&self, bar: &PairBar) -> Option<&'static str>;
    /// The pair to open.
    fn entry(&self, bar: &PairBar) -> Option<PairEntry>;
    /// The document's columns.
    fn columns(&self, bar: usize) -> Vec<Option<f64>>;
}

/// Runs a strategy on two assets. There is no entry on the bar of an exit.
pub(super) fn run_pair(rules: &impl PairRules, legs: &Legs<'_>, capital: f64) -> StrategyLogs {
    let (first, first_bars) = legs.first;
    let (second, second_bars) = legs.second;
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(1.0));
    let mut held_bars = 0;
    let prices = first_bars.close.iter().zip(&second_bars.close);
    for (bar, (time, (&close, &other))) in first_bars.times.iter().zip(prices).enumerate() {
        let closes = [(first, close), (second, other)];
        let quantity = book.quantity(first);
        let side = if quantity == 0.0 { 0.0 } else { quantity.signum() };
        if side != 0.0 {
            held_bars += 1;
        }
        let seen = PairBar {
            bar,
            closes: (close, other),
            equity: book.equity(&closes),
            side,
            held_bars,
        };
        let signal = if side == 0.0 {
            let entry = rules.entry(&seen);
            if entry.is_some() {
                held_bars = 0;
            }
            open(&mut book, &closes, time, entry)
        } else if let Some(rule) = rules.exit(&seen) {
            for (symbol, price) in closes {
                book.close(symbol, price, Deed { time, rule });
            }
            BarSignal::Exit
        } else {
            BarSignal::None
        };
        let note = BarNote {
            time,
            close,
            signal,
            state: book.state(first),
            indicators: rules.columns(bar),
        };
        recorder.note(&book, &closes, note);
    }
    recorder.finish(book)
}

fn open(book: &mut Book, closes: &Closes<'_>, time: &BarTime, entry: Option<PairEntry>) -> BarSignal {
    let Some(entry) = entry else {
        return BarSignal::None;
    };
    let deed = Deed {
        time,
        rule: entry.rule,
    };
    let (first, second) = entry.quantities;
    let quantities = [entry.side * first, -entry.side * second];
    for ((symbol, price), quantity) in closes.iter().zip(quantities) {
        book.move_to(symbol, quantity, *price, deed);
    }
    if entry.side > 0.0 {
        BarSignal::Long
    } else {
        BarSignal::Short
    }
}

/// A series with its rolling mean, sample deviation and standing between them.
pub(super) struct RollingScore {
    pub(super) values: Vec<f64>,
    pub(super) mean: Vec<Option<f64>>,
    pub(super) deviation: Vec<Option<f64>>,
    pub(super) score: Vec<Option<f64>>,
}

impl RollingScore {
    /// Of a series over a window; no score where nothing deviates.
    pub(super) fn of(values: Vec<f64>, window: usize) -> Self {
        let mean = rolling_mean(&values, window);
        let deviation = rolling_deviation(&values, window);
        let score = values
            .iter()
            .zip(mean.iter().zip(&deviation))
            .map(|(value, (mean, deviation))| {
                let deviation = (*deviation).filter(|deviation| *deviation > 0.0)?;
                Some((value - (*mean)?) / deviation)
            })
            .collect();
        Self {
            values,
            mean,
            deviation,
            score,
        }
    }

    /// The score of a bar.
    pub(super) fn at(&self, bar: usize) -> Option<f64> {
        self.score.get(bar).copied().flatten()
    }

    /// Value, mean, deviation and score of a bar.
    pub(super) fn columns(&self, bar: usize) -> Vec<Option<f64>> {
        let of = |column: &[Option<f64>]| column.get(bar).copied().flatten();
        vec![
            self.values.get(bar).copied(),
            of(&self.mean),
            of(&self.deviation),
            of(&self.score),
        ]
    }
}
