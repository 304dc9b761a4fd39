//! The series of real bars that a document runs on.

use super::choice::{BASKET, RealBars, SeriesChoice, SplitSpan};
use super::daily::{DailyBars, DailyName, DayBar};
use super::minutes::{MinuteBars, read_minutes};
use crate::error::StrategyError;
use crate::task::StrategyTask;
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

/// Which series of real bars a strategy runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeriesKind {
    /// Each symbol.
    Symbol,
    /// Two symbols on their common days.
    Pair,
    /// Four symbols on their common days.
    Basket,
    /// All symbols and their index.
    Portfolio,
    /// Bars of 15 minutes of each symbol of a file.
    Minutes,
}

impl SeriesKind {
    /// The kind of a task; else why real bars have nothing for it.
    pub(super) fn of(task: &StrategyTask) -> Result<Self, String> {
        let id = task.id.document();
        if id == Some(DocumentId::S07) {
            return Err("it trades contracts, which real bars do not hold".to_owned());
        }
        if id.is_none() && task.has_further_columns() {
            return Err("its scenarios have columns that real bars do not have".to_owned());
        }
        if id == Some(DocumentId::S08) {
            return Ok(Self::Portfolio);
        }
        Self::of_assets(&task.document)
    }

    fn of_assets(document: &StrategyDocument) -> Result<Self, String> {
        match (document.assets.len(), document.is_intraday) {
            (1, false) => Ok(Self::Symbol),
            (1, true) => Ok(Self::Minutes),
            (2, false) => Ok(Self::Pair),
            (BASKET, false) => Ok(Self::Basket),
            (assets, is_intraday) => {
                let bars = if is_intraday { "within a day" } else { "of days" };
                Err(format!(
                    "it trades {assets} assets on bars {bars}: real bars are for one, two or {BASKET} assets on bars of days, and \
                     for one within a day"
                ))
            }
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

    /// Whether there are bars for such series; else why not.
    pub(super) fn has(&self, kind: SeriesKind) -> Result<(), String> {
        match kind {
            SeriesKind::Minutes if self.minutes.is_none() => {
                Err("the experiment names no `minutes` for bars within a day".to_owned())
            }
            SeriesKind::Symbol | SeriesKind::Pair | SeriesKind::Basket | SeriesKind::Portfolio
                if self.daily.is_none() =>
            {
                Err("the experiment names no daily bars, `panel` or `bars`".to_owned())
            }
            SeriesKind::Symbol
            | SeriesKind::Pair
            | SeriesKind::Basket
            | SeriesKind::Portfolio
            | SeriesKind::Minutes => Ok(()),
        }
    }

    /// The series of a document over a split; none where the bars hold nothing for it. A series of a list that has too few bars is an error, one that a word chose is
    /// left out.
    pub(super) fn plan(
        &self,
        (kind, document): (SeriesKind, &StrategyDocument),
        split: &SplitSpan,
    ) -> Result<Vec<PlannedSeries>, StrategyError> {
        if kind == SeriesKind::Minutes {
            return self.minutes_plan(document, split);
        }
        let Some(daily) = &self.daily else {
            return Ok(Vec::new());
        };
        let symbols = self.symbols(daily, split)?;
        let keys = &self.keys;
        let (wanted, is_listed) = match kind {
            SeriesKind::Portfolio => return Ok(portfolio_plan(symbols)),
            SeriesKind::Pair => (grouped(&keys.pairs, &symbols), is_list(&keys.pairs)),
            SeriesKind::Basket => (grouped(&keys.baskets, &symbols), is_list(&keys.baskets)),
            SeriesKind::Symbol | SeriesKind::Minutes => {
                let each = symbols.into_iter().map(|symbol| vec![symbol]);
                (each.collect(), is_list(&keys.symbols))
            }
        };
        let least = document.warm_up_bars + BARS_MIN;
        let mut plan = Vec::new();
        for symbols in wanted {
            let names = self.names(daily, &symbols)?;
            let bars = common_days(daily, &names, split).count();
            if bars >= least {
                plan.push(PlannedSeries {
                    symbols,
                    shape: SeriesShape::Common,
                });
            } else if is_listed {
                return Err(StrategyError::input(
                    format_args!(
                        "{} have {bars} common bars in the split `{}`, and {} needs {least}",
                        symbols.join(" and "),
                        split.name,
                        document.id
                    ),
                    "remove the series, or choose a longer split",
                ));
            }
        }
        Ok(plan)
    }

    fn minutes_plan(
        &self,
        document: &StrategyDocument,
        split: &SplitSpan,
    ) -> Result<Vec<PlannedSeries>, StrategyError> {
        let Some(minutes) = &self.minutes else {
            return Ok(Vec::new());
        };
        let least = document.warm_up_bars + BARS_MIN;
        let mut plan = Vec::new();
        for (symbol, bars) in minutes {
            if minutes_of(bars, split)?.len() >= least {
                plan.push(PlannedSeries {
                    symbols: vec![symbol.clone()],
                    shape: SeriesShape::Minutes,
                });
            }
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

/// An index of the symbols; nothing where there is no second one.
fn portfolio_plan(symbols: Vec<String>) -> Vec<PlannedSeries> {
    let planned = (symbols.len() >= 2).then_some(PlannedSeries {
        symbols,
        shape: SeriesShape::Portfolio,
    });
    planned.into_iter().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};
    use ktd_io::whole_file::write_whole;
    use ktd_strategy_code::{LONG_RUN, Scenario};
    use std::fmt::Write as _;
    use std::path::PathBuf;
    use tempfile::TempDir;

    /// A panel file of a synthetic market over three years from 2022 on, and keys for it.
    fn panel() -> (TempDir, RealBars) {
        let folder = tempfile::tempdir().unwrap();
        let config = SynthConfig {
            seed: 3,
            names: 12,
            days: 480,
        };
        let market = generate(&config).unwrap();
        write_whole(&folder.path().join("p.ktdp"), &market.to_bytes()).unwrap();
        let keys = RealBars {
            panel: Some(PathBuf::from("p.ktdp")),
            symbols: SeriesChoice::Word("all".to_owned()),
            train: ["2022-01-01", "2023-01-01"].map(str::to_owned),
            test: ["2023-01-01", "2024-01-01"].map(str::to_owned),
            ..RealBars::default()
        };
        (folder, keys)
    }

    fn long_run() -> Scenario {
        Scenario {
            name: LONG_RUN.to_owned(),
            market: StrategyBars::default(),
        }
    }

    /// Symbols and bars of each series of a split.
    type Markets = Vec<(Vec<String>, StrategyBars)>;

    /// The series of a document, train before test.
    fn markets(keys: &RealBars, folder: &TempDir, id: DocumentId) -> Result<[Markets; 2], StrategyError> {
        let source = RealSource::read(keys, folder.path())?;
        let document = StrategyDocument::built_in(id).map_err(StrategyError::invalid)?;
        let task = StrategyTask::with_scenarios(id, vec![long_run()])?;
        let Ok(kind) = SeriesKind::of(&task) else {
            return Ok([Vec::new(), Vec::new()]);
        };
        let [train, test] = keys.splits()?.map(|split| {
            let plan = source.plan((kind, &document), &split)?;
            let of = |series: PlannedSeries| {
                let bars = source.market(&document, &series, &split)?;
                Ok((series.symbols, bars))
            };
            plan.into_iter()
                .map(of)
                .collect::<Result<Vec<_>, StrategyError>>()
        });
        Ok([train?, test?])
    }

    #[test]
    fn every_daily_document_has_series_and_bars_after_a_split_change_nothing_in_it() {
        let (folder, keys) = panel();
        let shorter = RealBars {
            test: ["2023-01-01", "2023-09-01"].map(str::to_owned),
            ..keys.clone()
        };
        for id in DocumentId::ALL {
            let [train, test] = markets(&keys, &folder, id).unwrap();
            let has_none = [DocumentId::S04, DocumentId::S05, DocumentId::S07].contains(&id);
            assert_eq!(has_none, train.is_empty() && test.is_empty(), "{id}");
            let [same, other] = markets(&shorter, &folder, id).unwrap();
            assert_eq!(train, same, "{id}");
            assert!(has_none || test != other, "{id}");
            if id == DocumentId::S06 {
                assert!(train.iter().all(|(symbols, _)| symbols[0] < symbols[1]));
            }
        }
    }

    #[test]
    fn assets_and_bars_of_a_document_say_which_series_it_runs_on() {
        let mut document = StrategyDocument::built_in(DocumentId::S01).unwrap();
        let mut kind = |assets: usize, is_intraday: bool| {
            document.assets = vec!["A".to_owned(); assets];
            document.is_intraday = is_intraday;
            SeriesKind::of_assets(&document)
        };
        assert_eq!(kind(1, false), Ok(SeriesKind::Symbol));
        assert_eq!(kind(2, false), Ok(SeriesKind::Pair));
        assert_eq!(kind(4, false), Ok(SeriesKind::Basket));
        assert_eq!(kind(1, true), Ok(SeriesKind::Minutes));
        assert!(
            kind(3, false)
                .unwrap_err()
                .starts_with("it trades 3 assets on bars of days")
        );
        assert!(
            kind(2, true)
                .unwrap_err()
                .starts_with("it trades 2 assets on bars within a day")
        );
    }

    #[test]
    fn what_the_bars_do_not_hold_is_named() {
        let (folder, keys) = panel();
        let error = |change: &dyn Fn(&mut RealBars)| {
            let mut keys = keys.clone();
            change(&mut keys);
            let all = DocumentId::ALL.map(|id| markets(&keys, &folder, id));
            let first = all.into_iter().find_map(Result::err);
            first.unwrap().to_string()
        };
        let empty = error(&|keys| keys.test = ["2031-01-01", "2032-01-01"].map(str::to_owned));
        assert!(empty.contains("the split `test` is empty"), "{empty}");
        let unknown = error(&|keys| keys.symbols = SeriesChoice::List(vec!["SH999999".to_owned()]));
        assert!(unknown.contains("p.ktdp has no symbol \"SH999999\""), "{unknown}");
        let [train, _] = markets(&keys, &folder, DocumentId::S06).unwrap();
        let short = error(&|keys| {
            keys.pairs = SeriesChoice::List(vec![[train[0].0[0].clone(), train[0].0[1].clone()]]);
            keys.test = ["2023-01-01", "2023-03-01"].map(str::to_owned);
        });
        assert!(
            short.contains("common bars in the split `test`, and S06 needs 79"),
            "{short}"
        );
    }

    /// Daily bars of two symbols, and minutes of one, over 28 days of six months.
    fn tables() -> (String, String) {
        let mut bars = "date,symbol,open,high,low,close,volume\n".to_owned();
        let mut minutes = "datetime,open,high,low,close,volume\n".to_owned();
        for month in ["2024-01", "2024-02", "2024-03", "2025-01", "2025-02", "2025-03"] {
            for day in 1..=28_i32 {
                for (symbol, place) in [("AAPL", 1), ("MSFT", 2)] {
                    let (close, day) = (10 + (day * place) % 7, format!("{month}-{day:02}"));
                    let (high, low) = (close + 1, close - 1);
                    writeln!(bars, "{day},{symbol},{close},{high},{low},{close},100").unwrap();
                }
                for (clock, price) in [("09:45", 10 + day % 3), ("10:00", 11 + day % 5), ("15:00", 10)] {
                    let (high, low) = (price + 1, price - 1);
                    writeln!(minutes, "{month}-{day:02} {clock},{price},{high},{low},{price},5").unwrap();
                }
            }
        }
        (bars, minutes)
    }

    #[test]
    fn a_table_of_bars_and_a_file_of_minutes_do_for_a_panel() {
        let folder = tempfile::tempdir().unwrap();
        let (bars, minutes) = tables();
        write_whole(&folder.path().join("bars.csv"), bars.as_bytes()).unwrap();
        write_whole(&folder.path().join("minutes.csv"), minutes.as_bytes()).unwrap();
        let keys = RealBars {
            bars: Some(PathBuf::from("bars.csv")),
            minutes: Some(PathBuf::from("minutes.csv")),
            ..RealBars::default()
        };
        let count = |id| {
            let [train, test] = markets(&keys, &folder, id).unwrap();
            train.len() + test.len()
        };
        assert_eq!((count(DocumentId::S01), count(DocumentId::S06)), (4, 2));
        assert_eq!((count(DocumentId::S04), count(DocumentId::S05)), (2, 2));
        assert_eq!((count(DocumentId::S09), count(DocumentId::S08)), (0, 2));
    }
}
