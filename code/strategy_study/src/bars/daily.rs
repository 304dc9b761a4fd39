//! Daily bars of a panel or of a table of any market, adjusted, as strategies are given them.

use super::choice::{HINT, RealBars, SplitSpan};
use crate::error::StrategyError;
use ktd_data::bar_table::BarTable;
use ktd_data::market_source::MarketSource;
use ktd_env::{Bar, Market, NameId, TradeDate};
use std::ops::Range;
use std::path::Path;

/// Daily bars of all names over the splits.
#[derive(Debug, Clone)]
pub(super) struct DailyBars {
    /// Sessions of the splits, ascending.
    pub(super) days: Vec<TradeDate>,
    /// Names by code.
    pub(super) names: Vec<DailyName>,
    /// Closes of the index, where the panel has one with a level on every session.
    pub(super) index: Option<Vec<f64>>,
}

/// Daily bars of one name.
#[derive(Debug, Clone)]
pub(super) struct DailyName {
    /// Its code.
    pub(super) code: String,
    /// A bar a session of [`DailyBars::days`].
    pub(super) bars: Vec<Option<DayBar>>,
    /// Whether it is a member of the index on a session; on all where nothing says so.
    pub(super) member: Vec<bool>,
}

/// One day, adjusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DayBar {
    pub(super) open: f64,
    pub(super) high: f64,
    pub(super) low: f64,
    pub(super) close: f64,
    pub(super) volume: f64,
    /// Whether it opened and traded; a day without trading repeats a close that nobody paid.
    pub(super) is_traded: bool,
}

impl DailyBars {
    /// The daily bars that the keys name; `None` where they name minutes alone.
    pub(super) fn read(keys: &RealBars, base: &Path) -> Result<Option<Self>, StrategyError> {
        let splits = keys.splits()?;
        let daily = match (&keys.panel, &keys.bars) {
            (Some(panel), _) => Self::of_market(&MarketSource::from_file(&base.join(panel))?, &splits),
            (None, Some(bars)) => Self::of_table(&BarTable::read(&base.join(bars), None)?, &splits),
            (None, None) => return Ok(None),
        };
        for split in &splits {
            if daily.sessions(split).is_empty() {
                return Err(StrategyError::input(
                    format_args!(
                        "the split `{}` is empty: the bars have no session in it",
                        split.name
                    ),
                    format_args!("choose days of the bars; {HINT}"),
                ));
            }
        }
        Ok(Some(daily))
    }

    fn of_market(source: &MarketSource, splits: &[SplitSpan]) -> Self {
        let market = &source.market;
        let places = (0..market.calendar().len()).filter_map(|place| market.day_at(place));
        let sessions: Vec<_> = places
            .filter_map(|day| Some((day, market.date(day)?)))
            .filter(|(_, date)| is_within(*date, splits))
            .collect();
        let name_of = |(name, code): (NameId, String)| DailyName {
            code,
            bars: sessions
                .iter()
                .map(|(day, _)| market.bar(name, *day).as_ref().map(DayBar::of))
                .collect(),
            member: sessions
                .iter()
                .map(|(_, date)| market.is_member(name, *date))
                .collect(),
        };
        let closes = market.indices().first().map(|index| {
            let closes = sessions
                .iter()
                .map(|(day, _)| index.close.get(day.index()).copied());
            closes.collect::<Option<Vec<f64>>>().unwrap_or_default()
        });
        Self {
            names: codes(market).into_iter().map(name_of).collect(),
            index: closes.filter(|closes| !closes.is_empty() && closes.iter().all(|close| *close > 0.0)),
            days: sessions.into_iter().map(|(_, date)| date).collect(),
        }
    }

    fn of_table(table: &BarTable, splits: &[SplitSpan]) -> Self {
        let places: Vec<usize> = (0..table.days.len())
            .filter(|place| table.days.get(*place).is_some_and(|day| is_within(*day, splits)))
            .collect();
        let count = table.codes.len();
        let names = table
            .codes
            .iter()
            .zip(0..)
            .map(|(code, name): (_, usize)| DailyName {
                code: code.clone(),
                bars: places
                    .iter()
                    .map(|place| DayBar::of_table(table, place * count + name))
                    .collect(),
                member: vec![true; places.len()],
            });
        Self {
            names: names.collect(),
            days: places
                .iter()
                .filter_map(|place| table.days.get(*place))
                .copied()
                .collect(),
            index: None,
        }
    }

    /// Places of a split's sessions.
    pub(super) fn sessions(&self, split: &SplitSpan) -> Range<usize> {
        let place = |date: TradeDate| self.days.partition_point(|day| *day < date);
        place(split.start)..place(split.end)
    }

    /// A name by its code.
    pub(super) fn name(&self, code: &str) -> Option<&DailyName> {
        let place = self.names.binary_search_by(|name| name.code.as_str().cmp(code));
        place.ok().and_then(|place| self.names.get(place))
    }
}

/// All names by code.
fn codes(market: &Market) -> Vec<(NameId, String)> {
    let mut codes: Vec<(NameId, String)> = market
        .names()
        .map(|(name, info)| (name, info.ticker.reveal().to_owned()))
        .collect();
    codes.sort_by(|one, other| one.1.cmp(&other.1));
    codes
}

fn is_within(date: TradeDate, splits: &[SplitSpan]) -> bool {
    splits.iter().any(|split| split.start <= date && date < split.end)
}

impl DayBar {
    fn of(bar: &Bar) -> Self {
        let close = bar.adjusted_close();
        #[expect(clippy::cast_precision_loss, reason = "shares of a day are far below 2^53")]
        let volume = bar.volume as f64 / bar.factor_value;
        Self {
            open: bar.open.map_or(close, |open| bar.adjusted(open)),
            high: bar.adjusted(bar.high),
            low: bar.adjusted(bar.low),
            close,
            volume,
            is_traded: bar.trades_at_open(),
        }
    }

    /// The bar in a cell of a table; none without a close above 0. A table may leave out volumes.
    fn of_table(table: &BarTable, cell: usize) -> Option<Self> {
        let of = |column: &[f64]| column.get(cell).copied().filter(|value| value.is_finite());
        let close = of(&table.close).filter(|close| *close > 0.0)?;
        let (open, volume) = (of(&table.open).filter(|open| *open > 0.0), of(&table.volume));
        let first = open.unwrap_or(close);
        Some(Self {
            open: first,
            high: of(&table.high).unwrap_or_else(|| first.max(close)),
            low: of(&table.low).unwrap_or_else(|| first.min(close)),
            close,
            volume: volume.unwrap_or(0.0),
            is_traded: open.is_some() && volume.is_none_or(|volume| volume > 0.0),
        })
    }
}
