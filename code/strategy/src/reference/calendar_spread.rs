//! S07: the difference of a near and a far contract, closed before the roll.

use super::pair::{Legs, PairBar, PairEntry, PairRules, RollingScore, run_pair};
use super::{ReferenceError, further};
use crate::bars::StrategyBars;
use crate::indicators::before;
use crate::logs::StrategyLogs;
use crate::parameters::Parameters;

struct SpreadRules<'a> {
    spread: RollingScore,
    days_to_expiry: &'a [f64],
    entry: f64,
    max_holding_bars: usize,
    no_entry_days: f64,
    roll_days: f64,
}

impl PairRules for SpreadRules<'_> {
    fn exit(&self, bar: &PairBar) -> Option<&'static str> {
        let days = *self.days_to_expiry.get(bar.bar)?;
        if days <= self.roll_days {
            Some("ROLL")
        } else if self
            .spread
            .at(bar.bar)
            .is_some_and(|score| bar.side * score >= 0.0)
        {
            Some("REVERTED")
        } else {
            (self.max_holding_bars <= bar.held_bars).then_some("TIME_STOP")
        }
    }

    fn entry(&self, bar: &PairBar) -> Option<PairEntry> {
        let days = *self.days_to_expiry.get(bar.bar)?;
        let (score, earlier) = (self.spread.at(bar.bar)?, before(&self.spread.score, bar.bar)?);
        let (side, rule) = if score >= self.entry && earlier < self.entry {
            (-1.0, "SPREAD_HIGH")
        } else if score <= -self.entry && earlier > -self.entry {
            (1.0, "SPREAD_LOW")
        } else {
            return None;
        };
        let contracts = bar.equity / (bar.closes.0 + bar.closes.1);
        (days > self.no_entry_days).then_some(PairEntry {
            side,
            rule,
            quantities: (contracts, contracts),
        })
    }

    fn columns(&self, bar: usize) -> Vec<Option<f64>> {
        let mut columns = self.spread.columns(bar);
        columns.push(self.days_to_expiry.get(bar).copied());
        columns
    }
}

pub(super) fn run(
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    let legs = Legs::of(market)?;
    let closes = legs.first.1.close.iter().zip(&legs.second.1.close);
    let spread = closes.map(|(near, far)| near - far).collect();
    let rules = SpreadRules {
        spread: RollingScore::of(spread, parameters.count("W")?),
        days_to_expiry: further(legs.first.0, legs.first.1, "days_to_expiry")?,
        entry: parameters.number("entry_z")?,
        max_holding_bars: parameters.count("max_holding_bars")?,
        no_entry_days: parameters.number("no_entry_days")?,
        roll_days: parameters.number("roll_days")?,
    };
    Ok(run_pair(&rules, &legs, capital))
}
