//! What a run is asked to trade: a list of orders, or scores for a strategy.

use super::exchange::QlibSide;
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
    pub side: QlibSide,
    /// How much.
    pub shares: OrderSize,
}

/// How much an order asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OrderSize {
    /// What is held when the day begins.
    All,
    /// Real shares; the adjusted amount is this over the day's factor.
    Real(f64),
}

/// Scores of instruments by the day they are dated; those of a day are traded on the next (rule S1).
#[derive(Debug, Clone, Default)]
pub struct Signal {
    /// Each symbol once, with its number by first appearance.
    numbers: BTreeMap<String, usize>,
    /// Scores with the number of their symbol, in its order.
    days: BTreeMap<NaiveDate, Vec<(usize, f64)>>,
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
        let next = self.numbers.len();
        let known = self.numbers.get(symbol).copied();
        let number = known.unwrap_or_else(|| *self.numbers.entry(symbol.to_owned()).or_insert(next));
        let day = self.days.entry(date).or_default();
        match day.binary_search_by_key(&number, |(known, _)| *known) {
            Ok(_) => Err(DuplicateScore {
                date,
                symbol: symbol.to_owned(),
            }),
            Err(place) => {
                day.insert(place, (number, score));
                Ok(())
            }
        }
    }

    /// Every symbol scored, once.
    pub(super) fn symbols(&self) -> impl Iterator<Item = &str> {
        self.numbers.keys().map(String::as_str)
    }

    /// The scores as a market of every symbol in the signal sees them.
    pub(super) fn scores<'a>(&'a self, market: &Market) -> Scores<'a> {
        let mut places = vec![0; self.numbers.len()];
        for (symbol, number) in &self.numbers {
            if let (Some(slot), Some(place)) = (places.get_mut(*number), market.instrument(symbol)) {
                *slot = place;
            }
        }
        Scores {
            signal: self,
            places,
            by_place: vec![None; market.symbols().len()],
        }
    }
}

/// A signal laid out for a market, a step at a time.
#[derive(Debug)]
pub(super) struct Scores<'a> {
    signal: &'a Signal,
    /// Place of each symbol in the market, by its number in the signal.
    places: Vec<usize>,
    by_place: Vec<Option<f64>>,
}

impl Scores<'_> {
    /// The scores to trade on a step, by place of the symbol: those dated from the day before up to the step, the
    /// latest known one for each instrument. `None` when there is none at all: nothing is traded.
    pub(super) fn on(&mut self, step: &Step) -> Option<&[Option<f64>]> {
        self.by_place.fill(None);
        let mut any = false;
        for (_, day) in self.signal.days.range(step.previous?..step.date) {
            any = true;
            for (number, score) in day {
                let place = self.places.get(*number).copied();
                if let Some(slot) = place.and_then(|place| self.by_place.get_mut(place))
                    && (slot.is_none() || !score.is_nan())
                {
                    *slot = Some(*score);
                }
            }
        }
        any.then_some(self.by_place.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::QlibPanel;
    use crate::config::tests::config;
    use crate::window;

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
        let mut scores = signal.scores(&market);
        assert_eq!(scores.on(&steps[0]), None);
        assert_eq!(scores.on(&steps[1]), None);
        assert_eq!(scores.on(&steps[2]), Some([Some(3.0), Some(2.0)].as_slice()));
    }
}
