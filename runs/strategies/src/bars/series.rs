//! The series of real bars that a document runs on.

use super::choice::{BASKET, RealBars, SeriesChoice, SplitSpan};
use super::daily::{DailyBars, DailyName, DayBar};
use super::minutes::{MinuteBars, read_minutes};
use crate::error::StrategyError;
use ktd_env::TradeDate;
use ktd_strategy_code::{AssetBars, BarTime, DocumentId, StrategyBars, StrategyDocument};
use std::ops::Range;
use std::path::Path;

/// Bars that a series must have after a document's warm-up.
const BARS_MIN: usize = 50;
/// The name of the index among the assets of a portfolio.
const INDEX: &str = "INDEX";
/// The level that an index without levels of its own begins with.
const INDEX_START: f64 = 1_000.0;

/// Real bars that were read.
#[derive(Debug)]
pub(crate) struct RealSource {
    pub(crate) keys: RealBars,
    pub(super) daily: Option<DailyBars>,
    minutes: Option<MinuteBars>,
}

/// One series: symbols of the bars, in the order of a document's assets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedSeries {
    pub(super) symbols: Vec<String>,
    shape: SeriesShape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeriesShape {
    /// Days on which all of the symbols traded.
    Common,
    /// An index and its constituents, on all days.
    Portfolio,
    /// Bars of 15 minutes.
    Minutes,
}

/// What a document runs on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SeriesPlan {
    pub(super) series: Vec<PlannedSeries>,
    /// Series that a word chose, and that have too few bars.
    pub(super) too_short: usize,
    /// Why there is no series.
    pub(super) no_data: Option<&'static str>,
}

impl SeriesPlan {
    const fn none(reason: &'static str) -> Self {
        Self {
            series: Vec::new(),
            too_short: 0,
            no_data: Some(reason),
        }
    }
}

impl RealSource {
    pub(crate) fn read(keys: &RealBars, base: &Path) -> Result<Self, StrategyError> {
        keys.check()?;
        Ok(Self {
            daily: DailyBars::read(keys, base)?,
            minutes: read_minutes(keys, base)?,
            keys: keys.clone(),
        })
    }

    /// The series of a document over a split. A series of a list that has too few bars is an error, one that a word chose is
    /// left out.
    pub(super) fn plan(
        &self,
        (id, document): (DocumentId, &StrategyDocument),
        split: &SplitSpan,
    ) -> Result<SeriesPlan, StrategyError> {
        if id == DocumentId::S07 {
            return Ok(SeriesPlan::none(
                "no data: it trades two contracts of one underlying",
            ));
        }
        if document.is_intraday {
            return self.minutes_plan(document, split);
        }
        let Some(daily) = &self.daily else {
            return Ok(SeriesPlan::none("no data: `panel` and `bars` are missing"));
        };
        let symbols = self.symbols(daily, split)?;
        let wanted = match id {
            DocumentId::S08 => return Ok(portfolio_plan(symbols)),
            DocumentId::S06 | DocumentId::S11 => grouped(&self.keys.pairs, &symbols),
            DocumentId::S09 => grouped(&self.keys.baskets, &symbols),
            DocumentId::S01
            | DocumentId::S02
            | DocumentId::S03
            | DocumentId::S04
            | DocumentId::S05
            | DocumentId::S07
            | DocumentId::S10
            | DocumentId::S12 => symbols.into_iter().map(|symbol| vec![symbol]).collect(),
        };
        if wanted.is_empty() {
            return Ok(SeriesPlan::none(
                "no data: there are too few symbols for one series",
            ));
        }
        let is_pair = matches!(id, DocumentId::S06 | DocumentId::S11);
        let is_listed = if is_pair {
            is_list(&self.keys.pairs)
        } else if id == DocumentId::S09 {
            is_list(&self.keys.baskets)
        } else {
            is_list(&self.keys.symbols)
        };
        let least = document.warm_up_bars + BARS_MIN;
        let mut plan = SeriesPlan::default();
        for symbols in wanted {
            let names = self.names(daily, &symbols)?;
            let bars = common_days(daily, &names, split).count();
            if bars >= least {
                plan.series.push(PlannedSeries {
                    symbols,
                    shape: SeriesShape::Common,
                });
            } else if is_listed {
                return Err(StrategyError::input(
                    format_args!(
                        "{} have {bars} common bars in the split `{}`, and {id} needs {least}",
                        symbols.join(" and "),
                        split.name
                    ),
                    "remove the series, or choose a longer split",
                ));
            } else {
                plan.too_short += 1;
            }
        }
        if plan.series.is_empty() {
            plan.no_data = Some("no data: every series has too few bars in the split");
        }
        Ok(plan)
    }

    fn minutes_plan(
        &self,
        document: &StrategyDocument,
        split: &SplitSpan,
    ) -> Result<SeriesPlan, StrategyError> {
        let Some(minutes) = &self.minutes else {
            return Ok(SeriesPlan::none("no data: `minutes` is missing"));
        };
        let least = document.warm_up_bars + BARS_MIN;
        let mut plan = SeriesPlan::default();
        for (symbol, bars) in minutes {
            if minutes_of(bars, split)?.len() < least {
                plan.too_short += 1;
                continue;
            }
            plan.series.push(PlannedSeries {
                symbols: vec![symbol.clone()],
                shape: SeriesShape::Minutes,
            });
        }
        if plan.series.is_empty() {
            plan.no_data = Some("no data: every series has too few bars in the split");
        }
        Ok(plan)
    }

    /// The symbols of a split: members are those of its first session, as later ones are not known on it.
    fn symbols(&self, daily: &DailyBars, split: &SplitSpan) -> Result<Vec<String>, StrategyError> {
        let first = daily.sessions(split).start;
        let chosen = |is_chosen: &dyn Fn(&DailyName) -> bool| {
            let names = daily.names.iter().filter(|name| is_chosen(name));
            names.map(|name| name.code.clone()).collect()
        };
        let is_there = |name: &DailyName| name.bars.get(first).is_some_and(Option::is_some);
        Ok(match &self.keys.symbols {
            SeriesChoice::List(symbols) => {
                self.names(daily, symbols)?;
                symbols.clone()
            }
            SeriesChoice::Word(word) if word == "members" => {
                chosen(&|name| is_there(name) && name.member.get(first) == Some(&true))
            }
            SeriesChoice::Word(_) => chosen(&is_there),
        })
    }

    fn names<'d>(
        &self,
        daily: &'d DailyBars,
        symbols: &[String],
    ) -> Result<Vec<&'d DailyName>, StrategyError> {
        let name = |symbol: &String| {
            daily.name(symbol).ok_or_else(|| {
                let file = self.keys.panel.as_ref().or(self.keys.bars.as_ref());
                let file = file.map(|path| path.display().to_string()).unwrap_or_default();
                StrategyError::input(
                    format_args!("{file} has no symbol {symbol:?}"),
                    "name symbols as the bars do, such as SH600519",
                )
            })
        };
        symbols.iter().map(name).collect()
    }

    /// The bars of a series under the names of the document's assets, so that no program sees what it trades; constituents are
    /// `C001` and on.
    pub(super) fn market(
        &self,
        document: &StrategyDocument,
        planned: &PlannedSeries,
        split: &SplitSpan,
    ) -> Result<StrategyBars, StrategyError> {
        let own = if planned.shape == SeriesShape::Minutes {
            let all = self.minutes.as_ref();
            let bars = planned.symbols.iter().filter_map(|symbol| all?.get(symbol));
            bars.map(|bars| minutes_of(bars, split))
                .collect::<Result<_, _>>()?
        } else {
            let Some(daily) = &self.daily else {
                return Ok(StrategyBars::default());
            };
            let names = self.names(daily, &planned.symbols)?;
            if planned.shape == SeriesShape::Portfolio {
                return Ok(portfolio(daily, &names, daily.sessions(split)));
            }
            let days: Vec<usize> = common_days(daily, &names, split).collect();
            names
                .iter()
                .map(|name| bars_on(daily, name, &days))
                .collect::<Vec<_>>()
        };
        Ok(StrategyBars {
            assets: document.assets.iter().cloned().zip(own).collect(),
        })
    }
}

const fn is_list<T>(choice: &SeriesChoice<T>) -> bool {
    matches!(choice, SeriesChoice::List(_))
}

/// The groups of a list; else the symbols in groups that follow each other: overlapping pairs, baskets one after the other.
fn grouped<const N: usize>(choice: &SeriesChoice<[String; N]>, symbols: &[String]) -> Vec<Vec<String>> {
    let step = if N == BASKET { BASKET } else { 1 };
    match choice {
        SeriesChoice::List(groups) => groups.iter().map(|group| group.to_vec()).collect(),
        SeriesChoice::Word(_) => symbols.windows(N).step_by(step).map(<[String]>::to_vec).collect(),
    }
}

fn portfolio_plan(symbols: Vec<String>) -> SeriesPlan {
    if symbols.len() < 2 {
        return SeriesPlan::none("no data: there are too few symbols for a portfolio");
    }
    SeriesPlan {
        series: vec![PlannedSeries {
            symbols,
            shape: SeriesShape::Portfolio,
        }],
        ..SeriesPlan::default()
    }
}

/// Places of a split's days on which all of the names traded.
fn common_days<'d>(
    daily: &DailyBars,
    names: &'d [&DailyName],
    split: &SplitSpan,
) -> impl Iterator<Item = usize> + use<'d> {
    let traded = |name: &&DailyName, day: usize| {
        let bar = name.bars.get(day).copied().flatten();
        bar.is_some_and(|bar| bar.is_traded)
    };
    daily
        .sessions(split)
        .filter(move |day| names.iter().all(|name| traded(name, *day)))
}

fn stamp(day: TradeDate) -> Option<BarTime> {
    BarTime::parse(&format!("{}T00:00:00", day.reveal()))
}

fn push(bars: &mut AssetBars, time: BarTime, bar: &DayBar) {
    bars.times.push(time);
    bars.open.push(bar.open);
    bars.high.push(bar.high);
    bars.low.push(bar.low);
    bars.close.push(bar.close);
    bars.volume.push(bar.volume);
}

fn bars_on(daily: &DailyBars, name: &DailyName, days: &[usize]) -> AssetBars {
    let mut own = AssetBars::default();
    for day in days {
        let bar = name.bars.get(*day).copied().flatten();
        if let Some((date, bar)) = daily.days.get(*day).zip(bar)
            && let Some(time) = stamp(*date)
        {
            push(&mut own, time, &bar);
        }
    }
    own
}

fn minutes_of(bars: &AssetBars, split: &SplitSpan) -> Result<AssetBars, StrategyError> {
    let mut own = AssetBars::default();
    let columns = [&bars.open, &bars.high, &bars.low, &bars.close, &bars.volume];
    for (bar, time) in bars.times.iter().enumerate() {
        let day = TradeDate::parse(time.day()).map_err(StrategyError::invalid)?;
        let [open, high, low, close, volume] =
            columns.map(|column| column.get(bar).copied().unwrap_or(f64::NAN));
        if split.start <= day && day < split.end {
            let bar = DayBar {
                open,
                high,
                low,
                close,
                volume,
                is_traded: true,
            };
            push(&mut own, time.clone(), &bar);
        }
    }
    Ok(own)
}

/// An index and its constituents on every session, each with an equal weight while it is a member and has bars. A day without
/// trading repeats the last close.
fn portfolio(daily: &DailyBars, names: &[&DailyName], sessions: Range<usize>) -> StrategyBars {
    let mut columns: Vec<AssetBars> = names.iter().map(|_| AssetBars::default()).collect();
    let mut weights: Vec<Vec<f64>> = names.iter().map(|_| Vec::new()).collect();
    let mut index = AssetBars::default();
    let mut level = INDEX_START;
    for session in sessions {
        let Some(time) = daily.days.get(session).copied().and_then(stamp) else {
            continue;
        };
        let mut change = (0.0, 0.0);
        let counted = names.iter().filter(|name| weighs(name, session)).count();
        for ((name, own), weights) in names.iter().zip(&mut columns).zip(&mut weights) {
            let before = own.close.last().copied();
            let bar = name.bars.get(session).copied().flatten();
            let Some(bar) = bar.or_else(|| before.map(still)) else {
                continue;
            };
            if let Some(before) = before {
                change = (change.0 + bar.close / before - 1.0, change.1 + 1.0);
            }
            push(own, time.clone(), &bar);
            weights.push(if weighs(name, session) {
                1.0 / number(counted)
            } else {
                0.0
            });
        }
        level *= 1.0 + if change.1 > 0.0 { change.0 / change.1 } else { 0.0 };
        let close = daily
            .index
            .as_ref()
            .and_then(|closes| closes.get(session))
            .copied();
        push(&mut index, time, &still(close.unwrap_or(level)));
    }
    let all = index.len();
    let own = columns
        .into_iter()
        .zip(weights)
        .zip(1..)
        .map(|((mut bars, weights), place): (_, usize)| {
            bars.further.insert("weight".to_owned(), weights);
            (format!("C{place:03}"), bars)
        });
    // A name that has no bar on the first session cannot be on the same rows as the others.
    let own = own.filter(|(_, bars)| bars.len() == all);
    StrategyBars {
        assets: std::iter::once((INDEX.to_owned(), index)).chain(own).collect(),
    }
}

fn weighs(name: &DailyName, session: usize) -> bool {
    name.member.get(session) == Some(&true) && name.bars.get(session).is_some_and(Option::is_some)
}

const fn still(close: f64) -> DayBar {
    DayBar {
        open: close,
        high: close,
        low: close,
        close,
        volume: 0.0,
        is_traded: false,
    }
}

/// A count as a number; it is far below 2^32.
fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
