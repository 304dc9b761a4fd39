//! S08: index weights, tilted by short runs of the constituents.

use super::recorder::{BarNote, Recorder};
use super::{ReferenceError, further};
use crate::bars::{AssetBars, StrategyBars};
use crate::book::{Book, Deed};
use crate::indicators::count;
use crate::logs::{BarSignal, PositionState, StrategyLogs};
use crate::parameters::Parameters;

/// Symbol of the index among the assets.
const INDEX: &str = "INDEX";

struct TiltRules {
    weight_threshold: f64,
    base_ratio: f64,
    delta: f64,
    window: usize,
    band: f64,
}

/// A run of closes in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CloseRun {
    Strong,
    Weak,
    Neutral,
}

/// The run of the last `window` closes up to a bar; neutral with fewer.
fn run_of(closes: &[f64], bar: usize, window: usize) -> CloseRun {
    let span = (bar + 1)
        .checked_sub(window)
        .and_then(|start| closes.get(start..=bar));
    let Some(span) = span else {
        return CloseRun::Neutral;
    };
    let steps = || {
        span.windows(2)
            .filter_map(|pair| Some(pair.get(1)? - pair.first()?))
    };
    if steps().all(|step| step > 0.0) {
        CloseRun::Strong
    } else if steps().all(|step| step < 0.0) {
        CloseRun::Weak
    } else {
        CloseRun::Neutral
    }
}

struct Constituent<'a> {
    symbol: &'a str,
    bars: &'a AssetBars,
    weights: &'a [f64],
}

impl Constituent<'_> {
    /// Its run on a bar and the share of equity that it should have.
    fn target(&self, bar: usize, rules: &TiltRules) -> (CloseRun, f64) {
        let run = run_of(&self.bars.close, bar, rules.window);
        let ratio = match run {
            CloseRun::Strong => rules.base_ratio + rules.delta,
            CloseRun::Weak => rules.base_ratio - rules.delta,
            CloseRun::Neutral => rules.base_ratio,
        };
        let weight = self.weights.get(bar).copied().unwrap_or(0.0);
        (
            run,
            if weight >= rules.weight_threshold {
                weight * ratio
            } else {
                0.0
            },
        )
    }
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let rules = TiltRules {
        weight_threshold: parameters.number("weight_threshold")?,
        base_ratio: parameters.number("base_ratio")?,
        delta: parameters.number("delta")?,
        window: parameters.count("mom_window")?,
        band: parameters.number("rebalance_band")?,
    };
    let (_, index) = market
        .assets
        .iter()
        .find(|(symbol, _)| symbol == INDEX)
        .ok_or(ReferenceError::Asset("INDEX"))?;
    let constituents: Vec<Constituent<'_>> = market
        .assets
        .iter()
        .filter(|(symbol, _)| symbol != INDEX)
        .map(|(symbol, bars)| {
            let weights = further(symbol, bars, "weight")?;
            Ok(Constituent {
                symbol,
                bars,
                weights,
            })
        })
        .collect::<Result<_, ReferenceError>>()?;
    let (mut book, mut recorder) = (Book::new(capital), Recorder::new(1.0));
    for (bar, (time, &close)) in index.times.iter().zip(&index.close).enumerate() {
        let closes: Vec<(&str, f64)> = constituents
            .iter()
            .filter_map(|own| Some((own.symbol, *own.bars.close.get(bar)?)))
            .collect();
        let targets: Vec<(CloseRun, f64)> = constituents.iter().map(|own| own.target(bar, &rules)).collect();
        let equity = book.equity(&closes);
        let aims = || closes.iter().zip(&targets);
        let distance: f64 = aims()
            .map(|((symbol, price), (_, target))| (target - book.quantity(symbol) * price / equity).abs())
            .sum();
        let signal = if distance > rules.band {
            let rule = if book.is_flat() { "INITIAL" } else { "TILT" };
            for ((symbol, price), (_, target)) in aims() {
                book.move_to(symbol, target * equity / price, *price, Deed { time, rule });
            }
            BarSignal::Rebalance
        } else {
            BarSignal::None
        };
        let runs = |of: CloseRun| count(targets.iter().filter(|(run, _)| *run == of).count());
        let sum: f64 = targets.iter().map(|(_, target)| target).sum();
        let note = BarNote {
            time,
            close,
            signal,
            state: long_or_flat(&book),
            indicators: [runs(CloseRun::Strong), runs(CloseRun::Weak), sum, distance]
                .map(Some)
                .to_vec(),
        };
        recorder.note(&book, &closes, note);
    }
    Ok(recorder.finish(book))
}

/// The state of a book that is never short.
pub(super) const fn long_or_flat(book: &Book) -> PositionState {
    if book.is_flat() {
        PositionState::Flat
    } else {
        PositionState::Long
    }
}
