//! What is audited, and what the checks share.

use crate::doors::Doors;
use crate::events::NextDayEvent;
use ktd_data::market_source::MarketSource;
use ktd_env::exchange::Rules;
use ktd_env::{DayIndex, FactorTable, Market};
use ktd_experiment::cells::cells;
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::toolbox::toolbox;
use ktd_io::parallel::{Tell, Ticks, in_parallel};
use ktd_study::StudyError;
use ktd_tools::{ToolLimits, Toolbox};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// As-of days that are looked at, where the panel has so many.
pub(crate) const AS_OF_DAYS: usize = 12;
/// The longest script of any check, in trading days before an as-of day.
const LONGEST_SCRIPT: usize = 6;

/// What is audited: a panel with the rules and limits of an experiment.
#[derive(Debug, Clone)]
pub struct AuditSubject {
    pub(crate) market: Arc<Market>,
    rules: Rules,
    limits: ToolLimits,
    /// The trading days of the experiment's windows; the panel's without one.
    pub(crate) window: Option<(DayIndex, DayIndex)>,
}

impl AuditSubject {
    /// A panel under the default rules.
    #[must_use]
    pub fn of_market(market: Arc<Market>) -> Self {
        Self {
            market,
            rules: Rules::default(),
            limits: ToolLimits::default(),
            window: None,
        }
    }

    /// The synthetic market of the demonstration, or a panel file, under the default rules.
    ///
    /// # Errors
    /// [`StudyError`] for a panel that cannot be read.
    pub fn of_panel(panel: Option<&Path>) -> Result<Self, StudyError> {
        let source = MarketSource::named(panel, None, Path::new(""))?;
        Ok(Self::of_market(source.market))
    }

    /// The panel, windows, rules and limits of an experiment file; `panel` in place of its own where one is named.
    ///
    /// # Errors
    /// [`StudyError`] for a file, a panel or a window that cannot be.
    pub fn of_experiment(path: &Path, panel: Option<&Path>) -> Result<Self, StudyError> {
        let config = ExperimentConfig::read(path)?;
        let market = match panel {
            Some(panel) => MarketSource::from_file(panel)?.market,
            None => MarketSource::of(&config, path.parent().unwrap_or_else(|| Path::new("")))?.market,
        };
        let cells = cells(&config, &market, None)?;
        let days = || cells.iter().flat_map(|cell| cell.window.days.iter().copied());
        Ok(Self {
            window: days().min().zip(days().max()),
            rules: config.rules.rules()?,
            limits: config.tools,
            market,
        })
    }
}

/// Checks that go over the as-of days.
const DAYS_CHECKED: u64 = 4;
/// Checks that go over the trading days after them.
const TRADING_DAYS_CHECKED: u64 = 4;

/// What the checks share.
pub(crate) struct Auditor<'a> {
    pub(crate) doors: &'a dyn Doors,
    pub(crate) market: &'a Market,
    pub(crate) rules: Rules,
    pub(crate) limits: ToolLimits,
    pub(crate) toolbox: Arc<Toolbox>,
    /// Ascending; each has the days of the longest script before it and a trading day after it.
    pub(crate) as_of_days: Vec<DayIndex>,
    /// Factor values of the panel over the as-of days, as a run computes them: once, of the whole.
    pub(crate) table: FactorTable,
    threads: usize,
    ticks: Ticks<'a>,
}

impl<'a> Auditor<'a> {
    pub(crate) fn new(
        doors: &'a dyn Doors,
        subject: &'a AuditSubject,
        threads: usize,
    ) -> Result<Self, StudyError> {
        let market = &*subject.market;
        let as_of_days = as_of_days(market, subject.window);
        let script = LONGEST_SCRIPT;
        let first = as_of_days
            .first()
            .and_then(|day| market.day_at(day.index().checked_sub(script)?));
        let (Some(first), Some(last)) = (first, as_of_days.last().copied()) else {
            return Err(StudyError::input(
                "the panel is too short for an audit",
                "use a panel of at least 128 trading days",
            ));
        };
        let table = doors
            .factors(market, (first, last))
            .map_err(|error| StudyError::input(error.to_string(), error.hint()))?;
        Ok(Self {
            doors,
            market,
            rules: subject.rules.clone(),
            limits: subject.limits,
            toolbox: toolbox(&subject.limits)?,
            as_of_days,
            table,
            threads,
            ticks: Ticks::of(0, &|_, _| {}),
        })
    }

    /// The same, which tells how many days of all checks are done.
    pub(crate) fn told_by(self, tell: Tell<'a>) -> Self {
        let count = |days: usize| u64::try_from(days).unwrap_or(u64::MAX);
        let (as_of, trading) = (count(self.as_of_days.len()), count(self.trading_days().len()));
        Self {
            ticks: Ticks::of(DAYS_CHECKED * as_of + TRADING_DAYS_CHECKED * trading + 1, tell),
            ..self
        }
    }

    /// What a check comes to on each day, in their order.
    pub(crate) fn each<R: Send>(&self, days: &[DayIndex], work: impl Fn(&DayIndex) -> R + Sync) -> Vec<R> {
        in_parallel(days, self.threads, |day| {
            let checked = work(day);
            self.ticks.tick();
            checked
        })
    }

    /// A check that is not made day by day is done.
    pub(crate) fn tick(&self) {
        self.ticks.tick();
    }

    /// A day as text.
    pub(crate) fn date(&self, day: DayIndex) -> String {
        self.market
            .date(day)
            .map(ktd_env::TradeDate::reveal)
            .unwrap_or_default()
    }

    /// The trading days after the as-of days.
    pub(crate) fn trading_days(&self) -> Vec<DayIndex> {
        let next = |day: &DayIndex| self.market.day_at(day.index() + 1);
        self.as_of_days.iter().filter_map(next).collect()
    }
}

/// As-of days in a window, or in the panel from where the longest factor has its history, if that leaves enough: the eves of
/// rare events, and days evenly spread.
fn as_of_days(market: &Market, window: Option<(DayIndex, DayIndex)>) -> Vec<DayIndex> {
    const LONG_HISTORY: usize = 253;
    let script = LONGEST_SCRIPT;
    let earliest = FactorTable::MIN_HISTORY_DAYS - 1 + script;
    let Some(latest) = market.calendar().len().checked_sub(2) else {
        return Vec::new();
    };
    let (first, last) = match window {
        Some((first, last)) => (
            first.index().saturating_sub(1).max(earliest),
            last.index().saturating_sub(1),
        ),
        None if LONG_HISTORY + script + AS_OF_DAYS < latest => (LONG_HISTORY + script, latest),
        None => (earliest, latest),
    };
    let last = last.max(first).min(latest);
    let mut places: BTreeSet<usize> = NextDayEvent::RARE
        .into_iter()
        .filter_map(|event| {
            let mut days = first..=last;
            days.find(|place| {
                market
                    .day_at(*place)
                    .is_some_and(|day| !event.names(market, day).is_empty())
            })
        })
        .collect();
    let others = AS_OF_DAYS - places.len();
    let spread = (0..others).map(|place| first + place * last.saturating_sub(first) / (others - 1));
    places.extend(spread.filter(|place| *place <= latest));
    places
        .into_iter()
        .filter_map(|place| market.day_at(place))
        .collect()
}
