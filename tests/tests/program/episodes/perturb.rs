//! The same market with another future: every row, level and declaration after a day is changed or gone.

use ktd_env::{
    Bar, DateSpan, DayIndex, Decimal, KeyedStream, Market, MarketBuilder, NameInfo, PanelOptions, PriceBasis,
    RawBar, TradeDate, VolumeBasis,
};
use ktd_kit::episode::below;
use std::collections::BTreeMap;

/// Rebuilds a market row by row. Rows after `cut` are drawn anew; `None` changes nothing.
pub(crate) fn rebuild(market: &Market, cut: Option<DayIndex>, dice: &mut KeyedStream) -> Market {
    rows_of(market, cut, dice).build().unwrap().0
}

/// The same market, one of whose companies has this name too.
pub(crate) fn with_company(market: &Market, name: &str) -> Market {
    let mut builder = rows_of(market, None, &mut KeyedStream::for_purpose(0, "unused"));
    let ticker = market.names().next().unwrap().1.ticker;
    builder.add_company_name(ticker, name);
    builder.build().unwrap().0
}

fn rows_of(market: &Market, cut: Option<DayIndex>, dice: &mut KeyedStream) -> MarketBuilder {
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: true,
        has_amounts: market.amount_declared(),
        calendar: Some(market.calendar().to_vec()),
    });
    let mut future = Future { market, cut, dice };
    for (name, info) in market.names() {
        let bars: Vec<(DayIndex, Bar)> = market.bars_of(name).collect();
        let last = bars.len() - 1;
        for (place, (day, bar)) in bars.into_iter().enumerate() {
            // The last row stays, so that no name falls out of the panel and the aliases are the same.
            if let Some(row) = future.row(day, &bar, place == last) {
                let (number, date) = (place as u64 + 1, market.date(day).unwrap());
                builder.add_row("rows", number, info.ticker, date, &row).unwrap();
            }
        }
        future.declare(&mut builder, info);
    }
    for index in market.indices() {
        let levels: BTreeMap<TradeDate, (f64, f64)> = market
            .calendar()
            .iter()
            .enumerate()
            .map(|(place, date)| {
                let is_new = future.is_after(market.day_at(place).unwrap());
                let scale = if is_new { 0.5 + future.dice.uniform() } else { 1.0 };
                (*date, (index.open[place] * scale, index.close[place] * scale))
            })
            .collect();
        builder.add_index(&index.code, levels);
    }
    market
        .notes()
        .iter()
        .for_each(|note| builder.add_note(note.clone()));
    builder
}

struct Future<'a> {
    market: &'a Market,
    cut: Option<DayIndex>,
    dice: &'a mut KeyedStream,
}

impl Future<'_> {
    fn is_after(&self, day: DayIndex) -> bool {
        self.cut.is_some_and(|cut| cut < day)
    }

    fn row(&mut self, day: DayIndex, bar: &Bar, is_last: bool) -> Option<RawBar> {
        let yuan = |fen: i64| Decimal::parse(&format!("{}.{:02}", fen / 100, fen % 100)).unwrap();
        if !self.is_after(day) {
            return Some(RawBar {
                open: bar.open.map(|open| yuan(open.0)),
                high: Some(yuan(bar.high.0)),
                low: Some(yuan(bar.low.0)),
                close: Some(yuan(bar.close.0)),
                volume: Decimal::parse(&bar.volume.to_string()).ok(),
                amount_cny: Some(bar.amount_cny),
                factor: Some(bar.factor),
                change_percent: None,
                suspended: bar.volume == 0,
            });
        }
        if !is_last && self.dice.below(5) == 0 {
            return None;
        }
        let mut drawn: Vec<i64> = (0..4)
            .map(|_| 1 + i64::try_from(self.dice.below(40_000)).unwrap())
            .collect();
        drawn.sort_unstable();
        let factor = 500_000 + self.dice.below(3_000_000);
        Some(RawBar {
            open: (self.dice.below(10) > 0).then(|| yuan(drawn[1])),
            high: Some(yuan(drawn[3])),
            low: Some(yuan(drawn[0])),
            close: Some(yuan(drawn[2])),
            volume: Decimal::parse(&self.dice.below(90_000_000).to_string()).ok(),
            amount_cny: Some(1.0e9 * self.dice.uniform()),
            factor: Decimal::parse(&format!("{}.{:06}", factor / 1_000_000, factor % 1_000_000)).ok(),
            change_percent: None,
            suspended: self.dice.below(10) == 0,
        })
    }

    fn declare(&mut self, builder: &mut MarketBuilder, info: &NameInfo) {
        let ticker = info.ticker;
        let last_row = self.market.date(info.last_row).unwrap();
        builder.declare_last_row(ticker, self.date(last_row));
        for name in &info.company_names {
            builder.add_company_name(ticker, name);
        }
        if let Some(sector) = info.sector {
            builder.set_sector(ticker, &self.market.sectors()[usize::from(sector)]);
        }
        if let Some(listed) = info.listed {
            builder.set_listed(ticker, self.date(listed));
        }
        for span in &info.st {
            builder.add_st(ticker, self.span(*span));
        }
        for span in &info.member {
            builder.add_member(ticker, self.span(*span));
        }
        if let Some(cut) = self.cut.filter(|_| self.dice.below(4) == 0) {
            let start = self.market.date(cut).unwrap();
            let (start, end) = (self.later(start), TradeDate::LATEST);
            builder.add_st(ticker, DateSpan { start, end });
        }
    }

    /// A date after the cut is drawn anew, one up to the cut stands.
    fn date(&mut self, date: TradeDate) -> TradeDate {
        let cut = self.cut.and_then(|cut| self.market.date(cut));
        match cut {
            Some(cut) if cut < date => self.later(cut),
            _ => date,
        }
    }

    /// A trading day after `cut`.
    fn later(&mut self, cut: TradeDate) -> TradeDate {
        let calendar = self.market.calendar();
        let from = calendar.partition_point(|day| *day <= cut);
        let left = calendar.len() - from;
        calendar[from + below(self.dice, left)]
    }

    fn span(&mut self, span: DateSpan) -> DateSpan {
        let start = self.date(span.start);
        let end = self.date(span.end).max(start);
        DateSpan { start, end }
    }
}
