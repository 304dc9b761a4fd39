//! How alike two runs on the same bars are: their acts, and what they hold.

use crate::bars::StrategyBars;
use crate::candidate::CandidateLogs;
use crate::indicators::count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bars that an act may be early or late and still be the same one; each takes its share of the credit.
const BARS_APART_MAX: usize = 4;
/// What a run holds where no closed trade says what: it is open after the last bar.
const OPEN: &str = "";

/// How alike what a version does on some bars is to what the reference does on them. Sums, so that those of several runs add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunLikeness {
    /// Acts of the reference: bars with a signal.
    pub reference_acts: usize,
    /// Acts of the version.
    pub acts: usize,
    /// Acts of the one that are acts of the other: the same signal on the same bar counts 1, one bar apart 0.8, and so on to 0.
    pub shared_acts: f64,
    /// Exposure that both have, summed over bars and assets, in shares of equity.
    pub shared_exposure: f64,
    /// The larger exposure of the two, and both where they are of opposite sides.
    pub exposure: f64,
}

impl RunLikeness {
    /// The likeness of a version's run to the reference's on the same bars.
    #[must_use]
    pub fn of(reference: &CandidateLogs, version: &CandidateLogs, market: &StrategyBars) -> Self {
        let [of_reference, of_version] = [reference, version].map(acts);
        let shared = of_reference.iter().map(|(signal, bars)| {
            let own = of_version.get(signal);
            own.map_or(0.0, |own| shared_acts(bars, own))
        });
        let all = |acts: &BTreeMap<&str, Vec<usize>>| acts.values().map(Vec::len).sum();
        let mut likeness = Self {
            reference_acts: all(&of_reference),
            acts: all(&of_version),
            shared_acts: shared.sum(),
            ..Self::default()
        };
        let [first, second] = [reference, version].map(|logs| exposures(logs, market));
        for (first, second) in first.iter().zip(&second) {
            let missing: Vec<&str> = second
                .keys()
                .filter(|name| !first.contains_key(*name))
                .copied()
                .collect();
            for symbol in first.keys().copied().chain(missing) {
                let of = |held: &BTreeMap<&str, f64>| held.get(symbol).copied().unwrap_or(0.0);
                let (first, second) = (of(first), of(second));
                if 0.0 <= first * second {
                    likeness.shared_exposure += first.abs().min(second.abs());
                    likeness.exposure += first.abs().max(second.abs());
                } else {
                    likeness.exposure += first.abs() + second.abs();
                }
            }
        }
        likeness
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            reference_acts: self.reference_acts + other.reference_acts,
            acts: self.acts + other.acts,
            shared_acts: self.shared_acts + other.shared_acts,
            shared_exposure: self.shared_exposure + other.shared_exposure,
            exposure: self.exposure + other.exposure,
        }
    }

    /// All draws added up, but for one where it is named; none of none.
    #[must_use]
    pub fn of_draws(draws: &[Self], without: Option<usize>) -> Option<Self> {
        let draws = draws.iter().enumerate();
        let left = draws.filter(|(draw, _)| Some(*draw) != without);
        left.map(|(_, own)| *own).reduce(|all, own| all.and(&own))
    }

    /// D1: the smaller of the F1 over acts and the overlap of exposure.
    #[must_use]
    pub fn fidelity(&self) -> f64 {
        self.acts_f1().min(self.exposure_overlap())
    }

    /// The F1 over acts: shared ones over the mean number of both; 1 where neither acts.
    #[must_use]
    pub fn acts_f1(&self) -> f64 {
        let all = self.reference_acts + self.acts;
        if all == 0 {
            1.0
        } else {
            2.0 * self.shared_acts / count(all)
        }
    }

    /// The share of exposure that both have; 1 where neither has any.
    #[must_use]
    pub fn exposure_overlap(&self) -> f64 {
        if 0.0 < self.exposure {
            self.shared_exposure / self.exposure
        } else {
            1.0
        }
    }
}

/// Bars with a signal, by signal.
fn acts(logs: &CandidateLogs) -> BTreeMap<&str, Vec<usize>> {
    let mut acts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for row in 0..logs.bars.len() {
        let signal = logs.bars.text("signal", row).unwrap_or("NONE");
        if signal != "NONE" {
            acts.entry(signal).or_default().push(row);
        }
    }
    acts
}

/// Credit for acts of one signal: pairs that are nearest are made first, and each act is in one pair.
fn shared_acts(first: &[usize], second: &[usize]) -> f64 {
    let mut second: Vec<Option<usize>> = second.iter().copied().map(Some).collect();
    let mut first: Vec<Option<usize>> = first.iter().copied().map(Some).collect();
    let mut shared = 0.0;
    for apart in 0..=BARS_APART_MAX {
        for own in &mut first {
            let Some(bar) = *own else { continue };
            let found = second
                .iter_mut()
                .find(|other| other.is_some_and(|other| other.abs_diff(bar) == apart));
            if let Some(found) = found {
                (*found, *own) = (None, None);
                shared += 1.0 - count(apart) / count(BARS_APART_MAX + 1);
            }
        }
    }
    shared
}

/// What a run holds after each bar, by symbol, in shares of its equity: what its closed trades say, and what its log of bars says
/// where none of them is open.
fn exposures<'l>(logs: &'l CandidateLogs, market: &StrategyBars) -> Vec<BTreeMap<&'l str, f64>> {
    let (times, bars, trades) = (market.times(), &logs.bars, &logs.trades);
    let mut held = vec![BTreeMap::new(); times.len()];
    let bar_of = |time: &str| times.binary_search_by(|own| own.as_str().cmp(time)).ok();
    for row in 0..trades.len() {
        let text = |name| trades.text(name, row);
        let place = |name| text(name).and_then(bar_of);
        let (Some(symbol), Some(entry), Some(exit)) =
            (text("symbol"), place("entry_datetime"), place("exit_datetime"))
        else {
            continue;
        };
        let side = if text("side") == Some("SHORT") { -1.0 } else { 1.0 };
        let quantity = trades.number("quantity", row).unwrap_or(0.0);
        let own = market.assets.iter().find(|(name, _)| name == symbol);
        for bar in entry..exit {
            let close = own.and_then(|(_, bars)| bars.close.get(bar)).copied();
            let equity = bars.number("equity", bar).filter(|equity| 0.0 < *equity);
            if let (Some(close), Some(equity), Some(held)) = (close, equity, held.get_mut(bar)) {
                *held.entry(symbol).or_insert(0.0) += side * quantity * close / equity;
            }
        }
    }
    for (bar, held) in held.iter_mut().enumerate().filter(|(_, held)| held.is_empty()) {
        let side = match bars.text("position_state", bar) {
            Some("LONG") => 1.0,
            Some("SHORT") => -1.0,
            _ => continue,
        };
        if let Some(exposure) = bars
            .number("exposure", bar)
            .filter(|exposure| exposure.is_finite())
        {
            held.insert(OPEN, side * exposure.abs());
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{CandidateTable, LogCell};
    use crate::{AssetBars, BarTime};

    const BARS: usize = 20;

    fn time(bar: usize) -> String {
        format!("2021-01-{:02}T00:00:00", bar + 1)
    }

    fn market() -> StrategyBars {
        let bars = AssetBars {
            times: (0..BARS).map(|bar| BarTime::parse(&time(bar)).unwrap()).collect(),
            close: vec![10.0; BARS],
            ..AssetBars::default()
        };
        let assets = ["A", "B"].map(|name| (name.to_owned(), bars.clone()));
        StrategyBars {
            assets: assets.to_vec(),
        }
    }

    /// A run that holds so much of a symbol from one bar to another, with equity 100.
    fn run(symbol: &str, (entry, exit): (usize, usize), quantity: f64) -> CandidateLogs {
        let text = |word: String| LogCell::Text(word);
        let signal = |bar| {
            if bar == entry {
                "LONG"
            } else if bar == exit {
                "EXIT"
            } else {
                "NONE"
            }
        };
        let column = |name: &str, cells: Vec<LogCell>| (name.to_owned(), cells);
        CandidateLogs {
            bars: CandidateTable::new(vec![
                column(
                    "signal",
                    (0..BARS).map(|bar| text(signal(bar).to_owned())).collect(),
                ),
                column("equity", vec![LogCell::Number(100.0); BARS]),
            ])
            .unwrap(),
            trades: CandidateTable::new(vec![
                column("symbol", vec![text(symbol.to_owned())]),
                column("side", vec![text("LONG".to_owned())]),
                column("entry_datetime", vec![text(time(entry))]),
                column("exit_datetime", vec![text(time(exit))]),
                column("quantity", vec![LogCell::Number(quantity)]),
            ])
            .unwrap(),
        }
    }

    fn parts(version: &CandidateLogs) -> String {
        told(&RunLikeness::of(&run("A", (5, 10), 10.0), version, &market()))
    }

    /// Likeness of acts and of holdings, to nine digits.
    fn told(likeness: &RunLikeness) -> String {
        format!("{:.9} {:.9}", likeness.acts_f1(), likeness.exposure_overlap())
    }

    #[test]
    fn acts_and_holdings_are_as_alike_as_they_are_near() {
        assert_eq!(parts(&run("A", (5, 10), 10.0)), "1.000000000 1.000000000");
        // Later by one bar, by two, and by too many.
        assert_eq!(parts(&run("A", (6, 11), 10.0)), "0.800000000 0.666666667");
        assert_eq!(parts(&run("A", (7, 12), 10.0)), "0.600000000 0.428571429");
        assert_eq!(parts(&run("A", (10, 15), 10.0)), "0.000000000 0.000000000");
        // A little too large, and twice as large.
        assert_eq!(parts(&run("A", (5, 10), 10.4)), "1.000000000 0.961538462");
        assert_eq!(parts(&run("A", (5, 10), 20.0)), "1.000000000 0.500000000");
        // Another asset at the same times.
        assert_eq!(parts(&run("B", (5, 10), 10.0)), "1.000000000 0.000000000");
        // Who never trades is like nobody who does.
        assert_eq!(parts(&CandidateLogs::default()), "0.000000000 0.000000000");
        let idle = CandidateLogs::default();
        let none = RunLikeness::of(&idle, &idle, &market());
        assert_eq!(told(&none), "1.000000000 1.000000000");
    }

    #[test]
    fn an_act_is_in_one_pair() {
        assert!((shared_acts(&[5], &[5, 6, 7]) - 1.0).abs() < 1e-12);
        assert!((shared_acts(&[5, 7], &[6]) - 0.8).abs() < 1e-12);
    }
}
