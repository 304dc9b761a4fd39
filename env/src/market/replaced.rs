//! The same panel cut after a day, or with other bars from a day on.

use super::{Bar, Columns, DayIndex, Market, NameId, codec};
use crate::decimal::Decimal;
use crate::money::Price;

impl Market {
    /// The same panel with every bar and index level after `day` removed; calendar, names and what import declared
    /// of them stay. Used to prove that nothing looks ahead.
    #[must_use]
    pub fn cut_after(&self, day: DayIndex) -> Self {
        let mut cut = self.clone();
        for info in &self.names {
            let keep = (day.index() + 1).saturating_sub(info.first.index()).min(info.len);
            let gone = info.offset + keep..info.offset + info.len;
            if let Some(cells) = cut.columns.close.get_mut(gone) {
                cells.fill(0);
            }
        }
        for index in cut.indices.iter_mut().chain(&mut cut.total_return_index) {
            for levels in [&mut index.open, &mut index.close] {
                if let Some(later) = levels.get_mut(day.index() + 1..) {
                    later.fill(f64::NAN);
                }
            }
        }
        cut.content_hash = codec::content_hash(&cut);
        cut
    }

    /// The same panel with every bar from `first` on replaced by what `bar` makes of it, and every index level from then on
    /// by what `level` makes of it; `None` removes a bar. Calendar, names and what import declared of them stay. Used, as
    /// [`Market::cut_after`], to prove that nothing looks ahead.
    #[must_use]
    pub fn replaced_from(
        &self,
        first: DayIndex,
        mut bar: impl FnMut(NameId, DayIndex, Bar) -> Option<Bar>,
        mut level: impl FnMut(DayIndex, f64) -> f64,
    ) -> Self {
        let mut other = self.clone();
        for (slot, info) in self.names.iter().enumerate() {
            let name = NameId::from_slot(slot);
            let from = first.index().saturating_sub(info.first.index()).min(info.len);
            for within in from..info.len {
                let (cell, day) = (
                    info.offset + within,
                    DayIndex::from_slot(info.first.index() + within),
                );
                let Some(old) = self.bar_at(cell) else { continue };
                other.put(cell, bar(name, day, old));
            }
        }
        for index in other.indices.iter_mut().chain(&mut other.total_return_index) {
            for levels in [&mut index.open, &mut index.close] {
                for (place, value) in levels.iter_mut().enumerate().skip(first.index()) {
                    *value = level(DayIndex::from_slot(place), *value);
                }
            }
        }
        other.content_hash = codec::content_hash(&other);
        other
    }

    fn put(&mut self, cell: usize, bar: Option<Bar>) {
        let factor = bar.map(|bar| self.factor_place(cell, bar.factor));
        let set = |column: &mut Vec<i32>, price: Option<Price>| {
            if let Some(value) = column.get_mut(cell) {
                *value = price.map_or(0, |price| i32::try_from(price.0).unwrap_or(i32::MAX));
            }
        };
        let Columns {
            open,
            high,
            low,
            close,
            volume,
            amount,
            factor: factors,
            change,
        } = &mut self.columns;
        set(open, bar.and_then(|bar| bar.open));
        set(high, bar.map(|bar| bar.high));
        set(low, bar.map(|bar| bar.low));
        set(close, bar.map(|bar| bar.close));
        if let Some(change) = change.as_mut().and_then(|change| change.get_mut(cell)) {
            *change = super::NO_CHANGE;
        }
        let (Some(bar), Some(factor)) = (bar, factor) else {
            return;
        };
        if let (Some(shares), Some(cny), Some(place)) =
            (volume.get_mut(cell), amount.get_mut(cell), factors.get_mut(cell))
        {
            (*shares, *cny, *place) = (bar.volume, bar.amount_cny, factor);
        }
    }

    /// The place of a cell's new factor among the panel's, where it is added if need be.
    fn factor_place(&mut self, cell: usize, factor: Decimal) -> u32 {
        let old = self.columns.factor.get(cell).copied();
        let known = old.and_then(|place| self.factors.get(usize::try_from(place).ok()?));
        if let Some(old) = old.filter(|_| known == Some(&factor)) {
            return old;
        }
        // New factors stand at the end.
        let found = self.factors.iter().rposition(|known| *known == factor);
        let place = found.unwrap_or_else(|| {
            self.factors.push(factor);
            self.factors_f64.push(factor.to_f64());
            self.factors.len() - 1
        });
        u32::try_from(place).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{SynthConfig, generate};

    #[test]
    fn bars_before_the_day_stay_and_those_from_it_on_are_what_was_asked_for() {
        let config = SynthConfig {
            seed: 4,
            names: 12,
            days: 60,
        };
        let market = generate(&config).unwrap();
        let first = market.day_at(40).unwrap();
        let same = market.replaced_from(first, |_, _, bar| Some(bar), |_, level| level);
        assert_eq!(same.content_hash(), market.content_hash());
        let removed = market.replaced_from(first, |_, _, _| None, |_, _| f64::NAN);
        let cut = market.cut_after(market.day_at(39).unwrap());
        for (name, _) in market.names() {
            assert!(removed.bars_of(name).eq(cut.bars_of(name)));
        }
        let factor = Decimal::parse("7.5").unwrap();
        let other = market.replaced_from(
            first,
            |_, _, bar| {
                Some(Bar {
                    open: None,
                    close: Price(bar.close.0 + 1),
                    factor,
                    factor_value: 7.5,
                    ..bar
                })
            },
            |_, level| level * 2.0,
        );
        let mut changed = 0;
        for (name, _) in market.names() {
            for ((day, old), (other_day, new)) in market.bars_of(name).zip(other.bars_of(name)) {
                assert_eq!(day, other_day);
                if day < first {
                    assert_eq!(old, new);
                    continue;
                }
                changed += 1;
                assert_eq!((new.open, new.close.0), (None, old.close.0 + 1));
                assert_eq!(
                    (new.factor, new.factor_value.to_bits()),
                    (factor, 7.5_f64.to_bits())
                );
                assert_eq!(new.volume, old.volume);
            }
        }
        assert!(100 < changed, "{changed}");
        let (old, new) = (&market.indices()[0].close, &other.indices()[0].close);
        assert_eq!(old[39].to_bits(), new[39].to_bits());
        assert!((new[40] - 2.0 * old[40]).abs() < 1e-9);
    }
}
