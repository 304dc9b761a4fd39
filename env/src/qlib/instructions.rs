//! What a run is asked to trade: a list of orders, or scores for a strategy.

use super::exchange::Side;
use super::market::Market;
use super::window::Step;
use chrono::NaiveDate;
use std::collections::BTreeMap;
use thiserror::Error;

/// Orders or scores.
#[derive(Debug, Clone)]
pub enum Instructions {
    /// Orders, in the order in which each day's are given.
    Orders(Vec<ScriptedOrder>),
    /// Scores for the strategy.
    Signal(Signal),
}

impl Instructions {
    /// Every symbol mentioned, as often as it is.
    pub(super) fn symbols(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Orders(orders) => Box::new(orders.iter().map(|order| order.symbol.as_str())),
            Self::Signal(signal) => Box::new(signal.symbols()),
        }
    }
}

/// An order of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedOrder {
    /// Day it is executed on.
    pub date: NaiveDate,
    /// Instrument.
    pub symbol: String,
    /// Buy or sell.
    pub side: Side,
    /// How much.
    pub shares: Shares,
}

/// How much an order asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shares {
    /// What is held when the day begins.
    All,
    /// Real shares; the adjusted amount is this over the day's factor.
    Real(f64),
}

/// Scores of instruments by the day they are dated; those of a day are traded on the next (rule S1).
#[derive(Debug, Clone, Default)]
pub struct Signal {
    days: BTreeMap<NaiveDate, BTreeMap<String, f64>>,
}

/// Two scores where only one can be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("two scores for {symbol} on {date}")]
pub struct DuplicateScore {
    /// Day of the scores.
    pub date: NaiveDate,
    /// Instrument scored twice.
    pub symbol: String,
}

impl Signal {
    /// Adds a score; `NaN` stands for a missing one.
    ///
    /// # Errors
    /// [`DuplicateScore`] when the instrument has one for that day.
    pub fn insert(&mut self, date: NaiveDate, symbol: &str, score: f64) -> Result<(), DuplicateScore> {
        match self
            .days
            .entry(date)
            .or_default()
            .insert(symbol.to_owned(), score)
        {
            Some(_) => Err(DuplicateScore {
                date,
                symbol: symbol.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Every symbol scored, as often as it is.
    pub(super) fn symbols(&self) -> impl Iterator<Item = &str> {
        self.days
            .values()
            .flat_map(|scores| scores.keys().map(String::as_str))
    }

    /// Writes the scores to trade on a step into `scores`, by place of the symbol: those dated from the day before
    /// up to the step, the latest known one for each instrument. False when there is none: nothing is traded.
    pub(super) fn scores_for(&self, step: &Step, market: &Market, scores: &mut Vec<Option<f64>>) -> bool {
        scores.clear();
        scores.resize(market.symbols().len(), None);
        let Some(previous) = step.previous else {
            return false;
        };
        let mut any = false;
        for (symbol, score) in self.days.range(previous..step.date).flat_map(|(_, day)| day) {
            any = true;
            let slot = market
                .instrument(symbol)
                .and_then(|instrument| scores.get_mut(instrument));
            if let Some(slot) = slot
                && (slot.is_none() || !score.is_nan())
            {
                *slot = Some(*score);
            }
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::super::bins::QlibPanel;
    use super::super::config::tests::config;
    use super::super::window;
    use super::*;

    #[test]
    fn a_step_trades_the_scores_since_the_day_before() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let days = "2024-01-04\n2024-01-05\n2024-01-08\n2024-01-09\n";
        let panel = QlibPanel::parse(days, None, "", []).unwrap();
        let mut signal = Signal::default();
        signal.insert(day("2024-01-05"), "A", 1.0).unwrap();
        signal.insert(day("2024-01-05"), "B", 2.0).unwrap();
        // A Saturday's score replaces Friday's unless it is missing.
        signal.insert(day("2024-01-06"), "A", 3.0).unwrap();
        signal.insert(day("2024-01-06"), "B", f64::NAN).unwrap();
        signal.insert(day("2024-01-08"), "A", 4.0).unwrap();
        assert!(signal.insert(day("2024-01-08"), "A", 4.0).is_err());
        let steps = window::steps(&panel, day("2024-01-04"), day("2024-01-08")).unwrap();
        let market = Market::new(&panel, &config(), &steps, signal.symbols());
        let mut scores = Vec::new();
        let found: Vec<bool> = steps
            .iter()
            .map(|step| signal.scores_for(step, &market, &mut scores))
            .collect();
        assert_eq!(found, [false, false, true]);
        assert_eq!(scores, [Some(3.0), Some(2.0)]);
    }
}
