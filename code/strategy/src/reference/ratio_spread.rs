//! S06: the ratio of two closes, traded back to its mean.

use super::ReferenceError;
use super::pair::{Legs, PairBar, PairEntry, PairRules, RollingScore, run_pair};
use crate::bars::StrategyBars;
use crate::logs::StrategyLogs;
use crate::parameters::Parameters;

struct RatioRules {
    ratio: RollingScore,
    entry: f64,
    exit: f64,
    stop: f64,
}

impl PairRules for RatioRules {
    fn exit(&self, bar: &PairBar) -> Option<&'static str> {
        let score = self.ratio.at(bar.bar)?.abs();
        if score >= self.stop {
            Some("STOP_Z")
        } else {
            (score <= self.exit).then_some("REVERTED")
        }
    }

    fn entry(&self, bar: &PairBar) -> Option<PairEntry> {
        let score = self.ratio.at(bar.bar)?;
        let half = bar.equity / 2.0;
        let (side, rule) = if score > 0.0 {
            (-1.0, "RATIO_HIGH")
        } else {
            (1.0, "RATIO_LOW")
        };
        (self.entry <= score.abs() && score.abs() < self.stop).then_some(PairEntry {
            side,
            rule,
            quantities: (half / bar.closes.0, half / bar.closes.1),
        })
    }

    fn columns(&self, bar: usize) -> Vec<Option<f64>> {
        self.ratio.columns(bar)
    }
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let legs = Legs::of(market)?;
    let closes = legs.first.1.close.iter().zip(&legs.second.1.close);
    let ratio = closes.map(|(first, second)| first / second).collect();
    let rules = RatioRules {
        ratio: RollingScore::of(ratio, parameters.count("W")?),
        entry: parameters.number("entry_z")?,
        exit: parameters.number("exit_z")?,
        stop: parameters.number("stop_z")?,
    };
    Ok(run_pair(&rules, &legs, capital))
}
