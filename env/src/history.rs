//! One name's bars as the columns that factor kernels read.

use crate::factors::Series;
use crate::market::{Bar, Market, NameId};
use std::ops::Range;

/// The daily history of one name over consecutive days of a panel, in total-return prices of one base.
///
/// Tools and attribution read a panel through this type alone, so that both speak of the same numbers.
#[derive(Debug, Clone)]
pub struct History {
    /// Opening prices, adjusted, in yuan; NaN where missing.
    pub open: Vec<f64>,
    /// Highest prices, adjusted, in yuan; NaN where missing.
    pub high: Vec<f64>,
    /// Lowest prices, adjusted, in yuan; NaN where missing.
    pub low: Vec<f64>,
    /// Closing prices, adjusted, in yuan; NaN on a day without a bar.
    pub close: Vec<f64>,
    /// Shares traded, over the adjustment factor, so that days compare.
    pub volume: Vec<f64>,
    /// Amount traded in CNY, never adjusted.
    pub amount: Vec<f64>,
    /// Whether anything traded.
    pub traded: Vec<bool>,
}

impl History {
    /// The bars of `name` on `days`, places of the panel's calendar.
    ///
    /// Where the first day has no bar, its close is the mark that the name carries into it, so that a history that
    /// begins late knows the same marks as one that begins with the panel.
    #[must_use]
    pub fn new(market: &Market, name: NameId, days: Range<usize>) -> Self {
        let length = days.len();
        let mut history = Self {
            open: vec![f64::NAN; length],
            high: vec![f64::NAN; length],
            low: vec![f64::NAN; length],
            close: vec![f64::NAN; length],
            volume: vec![f64::NAN; length],
            amount: vec![f64::NAN; length],
            traded: vec![false; length],
        };
        let carried = market
            .day_at(days.start)
            .and_then(|first| market.last_bar_day(name, first))
            .and_then(|day| market.bar(name, day));
        if let (Some(close), Some(bar)) = (history.close.first_mut(), carried) {
            *close = bar.adjusted_close();
        }
        let bars = market.bars_of(name);
        for (day, bar) in bars.take_while(|(day, _)| day.index() < days.end) {
            if let Some(place) = day.index().checked_sub(days.start) {
                history.put(place, &bar);
            }
        }
        history
    }

    #[expect(clippy::cast_precision_loss, reason = "volumes stay far below 2^53 shares")]
    fn put(&mut self, place: usize, bar: &Bar) {
        let values = [
            (
                &mut self.open,
                bar.open.map_or(f64::NAN, |open| bar.adjusted(open)),
            ),
            (&mut self.high, bar.adjusted(bar.high)),
            (&mut self.low, bar.adjusted(bar.low)),
            (&mut self.close, bar.adjusted_close()),
            (&mut self.volume, bar.volume as f64 / bar.factor_value),
            (&mut self.amount, bar.amount_cny),
        ];
        for (column, value) in values {
            if let Some(cell) = column.get_mut(place) {
                *cell = value;
            }
        }
        if let Some(traded) = self.traded.get_mut(place) {
            *traded = bar.volume > 0;
        }
    }

    /// The columns as factor kernels take them.
    #[must_use]
    pub fn series(&self) -> Series<'_> {
        Series {
            open: &self.open,
            high: &self.high,
            low: &self.low,
            close: &self.close,
            volume: &self.volume,
            amount: &self.amount,
            traded: &self.traded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{SynthConfig, generate};

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn a_late_history_is_the_end_of_the_whole_one_and_knows_the_mark_it_begins_with() {
        let market = generate(&SynthConfig::default()).unwrap();
        let days = market.calendar().len();
        let mut carried = 0;
        for (name, _) in market.names() {
            let whole = History::new(&market, name, 0..days);
            for start in [1, days / 2, days - 40] {
                let late = History::new(&market, name, start..days);
                assert_eq!(bits(&late.high), bits(&whole.high[start..]));
                assert_eq!(bits(&late.volume), bits(&whole.volume[start..]));
                assert_eq!(bits(&late.close[1..]), bits(&whole.close[start + 1..]));
                assert_eq!(late.traded, whole.traded[start..]);
                let mark = whole.close[..=start].iter().rfind(|close| !close.is_nan());
                assert_eq!(late.close[0].is_nan(), mark.is_none());
                if let Some(mark) = mark {
                    assert_eq!(late.close[0].to_bits(), mark.to_bits());
                    carried += usize::from(whole.close[start].is_nan());
                }
            }
        }
        assert!(0 < carried, "no suspension met the start of a history");
    }
}
