//! The same panel with another future: cut, replaced, or as it was known on a day.

use ktd_env::{
    Bar, DataError, DateSpan, DatedStatus, DayIndex, Decimal, IndexSeries, KeyedStream, Market,
    MarketBuilder, NameId, NameInfo, PanelOptions, Price, PriceBasis, RawBar, TradeDate, VolumeBasis,
};

/// What of a panel's later facts is kept in one that is built from the rows up to a day; each keeps those before it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaterFacts {
    /// Nothing: the panel as it was known.
    None,
    /// Names whose first row comes later.
    Names,
    /// Dates of index membership.
    Members,
    /// Each name's last row.
    LastRows,
}

/// The panel with everything after the as-of day drawn anew: random paths, other factors and volumes, holes.
pub(crate) fn other_future(market: &Market, as_of: DayIndex, seed: u64) -> Option<Market> {
    let first = market.day_at(as_of.index() + 1)?;
    let mut dice = KeyedStream::for_purpose(seed, "another future");
    let mut levels = KeyedStream::for_purpose(seed, "another index");
    let factor = Decimal::parse("3.25").ok()?;
    let mut path: (Option<NameId>, f64) = (None, 1.0);
    let bar = |name: NameId, _: DayIndex, bar: Bar| {
        if path.0 != Some(name) {
            path = (Some(name), 1.0);
        }
        path.1 *= libm::exp(0.03 * dice.normal());
        let kind = dice.below(20);
        let moved = Bar {
            open: bar.open.map(|open| scaled(open, path.1)).filter(|_| kind != 0),
            high: scaled(bar.high, path.1),
            low: scaled(bar.low, path.1),
            close: scaled(bar.close, path.1),
            volume: if kind == 1 {
                0
            } else {
                bar.volume / 2 + dice.below(1_000_000)
            },
            amount_cny: bar.amount_cny * (0.5 + dice.uniform()),
            ..bar
        };
        match kind {
            2 => None,
            3..10 => Some(Bar {
                factor,
                factor_value: factor.to_f64(),
                ..moved
            }),
            _ => Some(moved),
        }
    };
    Some(market.replaced_from(first, bar, |_, level| level * (0.5 + levels.uniform())))
}

/// The panel with high, low, close, amount and index of one day replaced; open, factor and volume stay. Some closes reach
/// beyond the price limits.
pub(crate) fn other_close(market: &Market, day: DayIndex, seed: u64) -> Market {
    const MOVES: [f64; 6] = [0.68, 0.88, 0.97, 1.03, 1.12, 1.32];
    let mut dice = KeyedStream::for_purpose(seed, "another close");
    let bar = |_: NameId, at: DayIndex, bar: Bar| {
        let place = usize::try_from(dice.below(6)).unwrap_or(0);
        let close = scaled(bar.close, MOVES.get(place).copied().unwrap_or(1.03));
        let open = bar.open.unwrap_or(close);
        let other = Bar {
            high: Price(open.0.max(close.0) + 7),
            low: Price((open.0.min(close.0) - 7).max(1)),
            close,
            amount_cny: bar.amount_cny * 1.5 + 1.0,
            ..bar
        };
        Some(if at == day { other } else { bar })
    };
    market.replaced_from(day, bar, |at, level| if at == day { level * 1.07 } else { level })
}

/// The panel with all of one day replaced, its factors and volumes too.
pub(crate) fn other_day(market: &Market, day: DayIndex, seed: u64) -> Option<Market> {
    let mut dice = KeyedStream::for_purpose(seed, "another day");
    let factor = Decimal::parse("3.25").ok()?;
    let mut other = |bar: Bar| {
        let shift = libm::exp(0.1 * dice.normal());
        Bar {
            open: bar.open.map(|open| scaled(open, shift)),
            high: scaled(bar.high, shift * 1.01),
            low: scaled(bar.low, shift * 0.99),
            close: scaled(bar.close, shift),
            volume: dice.below(1_000_000),
            amount_cny: bar.amount_cny * shift,
            factor,
            factor_value: factor.to_f64(),
        }
    };
    let bar = |_: NameId, at: DayIndex, bar: Bar| Some(if at == day { other(bar) } else { bar });
    Some(market.replaced_from(day, bar, |at, level| if at == day { level * 1.07 } else { level }))
}

/// The panel with other volumes on one day.
pub(crate) fn other_volume(market: &Market, day: DayIndex, volume: impl Fn(u64) -> u64) -> Market {
    let bar = |_: NameId, at: DayIndex, bar: Bar| {
        let other = Bar {
            volume: volume(bar.volume),
            ..bar
        };
        Some(if at == day { other } else { bar })
    };
    market.replaced_from(day, bar, |_, level| level)
}

/// The panel without the opens of every third name on one day.
pub(crate) fn missing_opens(market: &Market, day: DayIndex) -> Market {
    let mut place = 0_usize;
    let bar = |_: NameId, at: DayIndex, bar: Bar| {
        if at != day {
            return Some(bar);
        }
        place += 1;
        let open = bar.open.filter(|_| !place.is_multiple_of(3));
        Some(Bar { open, ..bar })
    };
    market.replaced_from(day, bar, |_, level| level)
}

fn scaled(price: Price, by: f64) -> Price {
    let yuan = price.to_yuan() * by;
    #[expect(clippy::cast_possible_truncation, reason = "prices stay far below 2^31 fen")]
    let fen = libm::round(yuan * 100.0).clamp(1.0, 1.0e9) as i64;
    Price(fen)
}

/// The panel of the rows up to a day, and of the facts that were known then. The calendar is whole: exchanges announce it.
///
/// A span of membership or ST status that runs on after the day is one without an end.
pub(crate) fn as_known(
    market: &Market,
    day: DayIndex,
    later: LaterFacts,
) -> Result<Option<Market>, DataError> {
    let Some(known) = Known::of(market, day, later) else {
        return Ok(None);
    };
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: true,
        has_amounts: true,
        calendar: Some(market.calendar().to_vec()),
    });
    for (name, info) in market.names() {
        if known.has(market, name) {
            add_name(&mut builder, market, (name, info), &known)?;
        }
    }
    for index in market.indices() {
        let levels = market.calendar().iter().enumerate();
        let levels = levels
            .take(day.index() + 1)
            .map(|(place, date)| (*date, levels_at(index, place)));
        builder.add_index(&index.code, levels.collect());
    }
    let (built, _) = builder.build()?;
    Ok(Some(built.cut_after(day)))
}

fn levels_at(index: &IndexSeries, place: usize) -> (f64, f64) {
    let level = |levels: &[f64]| levels.get(place).copied().unwrap_or(f64::NAN);
    (level(&index.open), level(&index.close))
}

struct Known {
    day: DayIndex,
    date: TradeDate,
    later: LaterFacts,
}

impl Known {
    fn of(market: &Market, day: DayIndex, later: LaterFacts) -> Option<Self> {
        let date = market.date(day)?;
        Some(Self { day, date, later })
    }

    fn has(&self, market: &Market, name: NameId) -> bool {
        let first = market.first_bar_day(name);
        first.is_some_and(|first| first <= self.day || LaterFacts::Names <= self.later)
    }

    /// A span as it was known: none that begins later, and none has an end that lies later.
    fn span(&self, span: DateSpan) -> Option<DateSpan> {
        let end = if self.date < span.end {
            TradeDate::LATEST
        } else {
            span.end
        };
        (span.start <= self.date).then_some(DateSpan {
            start: span.start,
            end,
        })
    }
}

fn add_name(
    builder: &mut MarketBuilder,
    market: &Market,
    (name, info): (NameId, &NameInfo),
    known: &Known,
) -> Result<(), DataError> {
    let ticker = info.ticker;
    let mut rows = 0_u64;
    for (day, bar) in market.bars_of(name) {
        // Of a name that is listed later one row stands for it, until the panel is cut.
        if known.day < day && 0 < rows {
            break;
        }
        rows += 1;
        if let Some(date) = market.date(day) {
            builder.add_row("rows", rows, ticker, date, &raw(&bar))?;
        }
    }
    if LaterFacts::LastRows <= known.later
        && let Some(last) = market.date(info.last_row)
    {
        builder.declare_last_row(ticker, last);
    }
    for span in &info.member {
        let shown = if LaterFacts::Members <= known.later {
            Some(*span)
        } else {
            known.span(*span)
        };
        if let Some(span) = shown {
            builder.add_member(ticker, span);
        }
    }
    for span in info.st.iter().filter_map(|span| known.span(*span)) {
        builder.add_st(ticker, span);
    }
    for dated in &info.statuses {
        if let Some(span) = known.span(dated.span) {
            builder.add_status(ticker, DatedStatus { span, ..*dated });
        }
    }
    let paid = info.dividends.iter();
    for dividend in paid.filter(|dividend| dividend.ex_day <= known.date) {
        builder.set_dividend(ticker, *dividend);
    }
    if let Some(listed) = info
        .listed
        .filter(|listed| *listed <= known.date || LaterFacts::Names <= known.later)
    {
        builder.set_listed(ticker, listed);
    }
    let label = |sector: u16| market.sectors().get(usize::from(sector)).cloned();
    let undated = info.sector.filter(|_| info.dated_sectors.is_empty());
    if let Some(sector) = undated.and_then(label) {
        builder.set_sector(ticker, &sector);
    }
    for dated in &info.dated_sectors {
        if let (Some(span), Some(sector)) = (known.span(dated.span), label(dated.sector)) {
            builder.add_dated_sector(ticker, span, &sector);
        }
    }
    Ok(())
}

fn raw(bar: &Bar) -> RawBar {
    let yuan = |price: Price| Decimal::parse(&format!("{}.{:02}", price.0 / 100, price.0 % 100)).ok();
    RawBar {
        open: bar.open.and_then(yuan),
        high: yuan(bar.high),
        low: yuan(bar.low),
        close: yuan(bar.close),
        volume: Decimal::parse(&bar.volume.to_string()).ok(),
        amount_cny: Some(bar.amount_cny),
        factor: Some(bar.factor),
        change_percent: None,
        suspended: bar.volume == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_market::small_market;

    #[test]
    fn a_panel_as_it_was_known_has_the_rows_up_to_the_day_and_none_of_the_later_facts() {
        let market = small_market();
        let day = market.day_at(265).unwrap();
        let cut = market.cut_after(day);
        let known = as_known(&market, day, LaterFacts::None).unwrap().unwrap();
        assert!(known.names().len() < cut.names().len(), "no name is listed later");
        for (name, info) in known.names() {
            let same = cut.find(info.ticker).unwrap();
            assert!(known.bars_of(name).eq(cut.bars_of(same)));
        }
        let all = as_known(&market, day, LaterFacts::LastRows).unwrap().unwrap();
        assert_eq!(all.names().len(), cut.names().len());
        for ((name, info), (other, expected)) in all.names().zip(cut.names()) {
            assert_eq!(
                (info.last_row, &info.member),
                (expected.last_row, &expected.member)
            );
            assert!(all.bars_of(name).eq(cut.bars_of(other)));
        }
    }

    #[test]
    fn another_future_leaves_every_bar_up_to_the_day() {
        let market = small_market();
        let day = market.day_at(265).unwrap();
        let other = other_future(&market, day, 1).unwrap();
        let mut differs = 0;
        for (name, _) in market.names() {
            for later in 0..market.calendar().len() {
                let at = market.day_at(later).unwrap();
                let is_same = market.bar(name, at) == other.bar(name, at);
                assert!(is_same || day < at);
                differs += usize::from(!is_same);
            }
        }
        assert!(1_000 < differs, "{differs}");
    }
}
